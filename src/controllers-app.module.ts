import { type DynamicModule, Module } from '@nestjs/common';
import { AdmissionOptions } from './base/config/admission.options.js';
import { AggregationOptions } from './base/config/aggregation.options.js';
import { AuthorizationOptions } from './base/config/authorization.options.js';
import { ClusterOptions } from './base/config/cluster.options.js';
import { NodeAgentOptions } from './base/config/node-agent.options.js';
import { OptionsModule } from './base/config/options.module.js';
import type { ControllersSettings, ServerOptions } from './base/config/server-options.js';
import { StorageOptions } from './base/config/storage.options.js';
import type { Logger } from './base/observability/logger.js';
import { ObservabilityModule } from './base/observability/observability.module.js';
import { ControllersModule } from './loops/controllers/controllers.module.js';
import { apiGroupModules } from './modules/api-group-modules.js';
import { CustomResourcesModule } from './objects/custom-resources/serving/custom-resources.module.js';
import { RegistryModule } from './objects/registry/registry.module.js';
import { ClosedAuthenticationModule } from './server/authentication/closed-authentication.module.js';
import { AuthorizationModule } from './server/authorization/authorization.module.js';
import { NodeAgentsModule } from './server/node-agents/node-agents.module.js';
import { StartModule } from './storage/start.module.js';
import { StorageModule } from './storage/storage.module.js';

const groups = {
  storage: StorageOptions,
  cluster: ClusterOptions,
  authorization: AuthorizationOptions,
  admission: AdmissionOptions,
  aggregation: AggregationOptions,
  nodeAgents: NodeAgentOptions,
} as const;

/** The controllers as a process of their own, with the authorization that their checks need. */
@Module({})
export class ControllersAppModule {
  static of(
    options: Pick<ServerOptions, 'storage' | 'cluster' | 'authorization' | 'admission' | 'aggregation' | 'nodeAgents'> &
      ControllersSettings,
    logger: Logger,
    signal?: AbortSignal,
  ): DynamicModule {
    const imports = [StorageModule, RegistryModule, ClosedAuthenticationModule, AuthorizationModule, NodeAgentsModule];
    return {
      module: ControllersAppModule,
      imports: [
        OptionsModule.of(groups, {
          storage: { ...options.storage, watchCache: false },
          cluster: options.cluster,
          authorization: options.authorization,
          admission: options.admission,
          aggregation: options.aggregation,
          nodeAgents: options.nodeAgents,
        }),
        ObservabilityModule.of(logger),
        StartModule.of(signal),
        CustomResourcesModule,
        ...apiGroupModules({ imports }),
        ControllersModule.of(options),
      ],
    };
  }
}
