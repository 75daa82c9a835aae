import { type DynamicModule, Module } from '@nestjs/common';
import { ClosedAuthenticationModule } from './authentication/closed-authentication.module.js';
import { AuthorizationModule } from './authorization/authorization.module.js';
import { AdmissionOptions } from './config/admission.options.js';
import { AggregationOptions } from './config/aggregation.options.js';
import { AuthorizationOptions } from './config/authorization.options.js';
import { ClusterOptions } from './config/cluster.options.js';
import { OptionsModule } from './config/options.module.js';
import type { ControllersSettings, ServerOptions } from './config/server-options.js';
import { StorageOptions } from './config/storage.options.js';
import { ControllersModule } from './controllers/controllers.module.js';
import { CustomResourcesModule } from './custom-resources/serving/custom-resources.module.js';
import { vendorNames } from './machinery/vendor.js';
import { apiGroupModules } from './modules/api-group-modules.js';
import type { Logger } from './observability/logger.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { RegistryModule } from './registry/registry.module.js';
import { StartModule } from './storage/start.module.js';
import { StorageModule } from './storage/storage.module.js';

const groups = {
  storage: StorageOptions,
  cluster: ClusterOptions,
  authorization: AuthorizationOptions,
  admission: AdmissionOptions,
  aggregation: AggregationOptions,
} as const;

/** The control loops as a process of their own, with the authorization they need for their checks. */
@Module({})
export class ControllersAppModule {
  static of(
    options: Pick<ServerOptions, 'storage' | 'cluster' | 'authorization' | 'admission' | 'aggregation'> &
      ControllersSettings,
    logger: Logger,
    signal?: AbortSignal,
  ): DynamicModule {
    const names = vendorNames(options.cluster.vendor, options.cluster.compat);
    const imports = [StorageModule, RegistryModule, ClosedAuthenticationModule, AuthorizationModule];
    return {
      module: ControllersAppModule,
      imports: [
        OptionsModule.of(groups, {
          storage: { ...options.storage, watchCache: false },
          cluster: options.cluster,
          authorization: options.authorization,
          admission: options.admission,
          aggregation: options.aggregation,
        }),
        ObservabilityModule.of(logger),
        StartModule.of(signal),
        CustomResourcesModule,
        ...apiGroupModules({ names, imports }),
        ControllersModule.of(options),
      ],
    };
  }
}
