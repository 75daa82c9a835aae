import { type DynamicModule, Module } from '@nestjs/common';
import { ClusterOptions } from './base/config/cluster.options.js';
import { OptionsModule } from './base/config/options.module.js';
import type { ServerOptions } from './base/config/server-options.js';
import { StorageOptions } from './base/config/storage.options.js';
import type { Logger } from './base/observability/logger.js';
import { ObservabilityModule } from './base/observability/observability.module.js';
import { apiGroupModules } from './modules/api-group-modules.js';
import { CustomResourcesModule } from './objects/custom-resources/serving/custom-resources.module.js';
import { RegistryModule } from './objects/registry/registry.module.js';
import { ClosedAuthenticationModule } from './server/authentication/closed-authentication.module.js';
import { ClosedAuthorizationModule } from './server/authorization/closed-authorization.module.js';
import { StartModule } from './storage/start.module.js';
import { StorageModule } from './storage/storage.module.js';

/**
 * Storage and every built-in resource, for work inside the program. It serves no requests, so authorization allows
 * nothing.
 */
@Module({})
export class ResourcesAppModule {
  static of(options: Pick<ServerOptions, 'storage' | 'cluster'>, logger: Logger, signal?: AbortSignal): DynamicModule {
    const storage = { ...options.storage, watchCache: false };
    const imports = [StorageModule, RegistryModule, ClosedAuthenticationModule, ClosedAuthorizationModule];
    return {
      module: ResourcesAppModule,
      imports: [
        OptionsModule.of({ storage: StorageOptions, cluster: ClusterOptions }, { storage, cluster: options.cluster }),
        ObservabilityModule.of(logger),
        StartModule.of(signal),
        CustomResourcesModule,
        ...apiGroupModules({ imports }),
      ],
    };
  }
}
