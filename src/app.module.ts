import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { OptionsModule } from './base/config/options.module.js';
import { type ControllersSettings, type ServerOptions, serverOptionGroups } from './base/config/server-options.js';
import { shownFlags } from './base/config/shown-flags.js';
import type { Logger } from './base/observability/logger.js';
import type { MetricsWorker } from './base/observability/metrics.js';
import { ObservabilityModule } from './base/observability/observability.module.js';
import { ControllersModule } from './loops/controllers/controllers.module.js';
import { apiGroupModules } from './modules/api-group-modules.js';
import { CustomResourcesModule } from './objects/custom-resources/serving/custom-resources.module.js';
import { RegistryModule } from './objects/registry/registry.module.js';
import { AdmissionModule } from './server/admission/admission.module.js';
import { AdvertiseModule } from './server/advertise/advertise.module.js';
import { AuthenticationGuard } from './server/authentication/authentication.guard.js';
import { AuthenticationModule } from './server/authentication/authentication.module.js';
import { ImpersonationGuard } from './server/authentication/impersonation/impersonation.guard.js';
import { TlsModule } from './server/authentication/x509/tls.module.js';
import type { TlsFiles } from './server/authentication/x509/tls-files.js';
import { AuthorizationGuard } from './server/authorization/authorization.guard.js';
import { AuthorizationModule } from './server/authorization/authorization.module.js';
import { ClusterBootstrap } from './server/bootstrap/cluster-bootstrap.js';
import { ProcessInfoModule } from './server/endpoints/debug/process-info.module.js';
import { EndpointsModule } from './server/endpoints/endpoints.module.js';
import { InFlightGuard } from './server/endpoints/request-info/in-flight.guard.js';
import { StatusFilter } from './server/endpoints/status.filter.js';
import { FlowControlModule } from './server/flow-control/flow-control.module.js';
import { LargeModule } from './server/large/large.module.js';
import { NodeAgentsModule } from './server/node-agents/node-agents.module.js';
import type { OpenDatabase } from './storage/postgres/postgres-storage.js';
import { StartModule } from './storage/start.module.js';
import { StorageModule } from './storage/storage.module.js';
import { WayToDatabaseModule } from './storage/way-to-database.module.js';

/** The parts of a serving process that are not options. */
export interface AppDependencies {
  readonly logger: Logger;
  readonly tls: TlsFiles;
  /** Set in a worker: which of the processes behind one port this is. */
  readonly worker?: MetricsWorker | undefined;
  /** The path to the database; default: connections of this process. */
  readonly openDatabase?: OpenDatabase | undefined;
  /** Runs the control loops in this process as well. */
  readonly controllers?: ControllersSettings | undefined;
  /** When aborted, the start stops waiting for a database that is not ready. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A process that serves the API. A request passes the hooks of `endpoints/request-info` (registered on Fastify before
 * routing), the four guards in the order below, and the handler of the verb. Every error is turned into a response by
 * the filter.
 */
@Module({
  imports: [
    StorageModule,
    RegistryModule,
    AuthenticationModule,
    AuthorizationModule,
    AdmissionModule,
    FlowControlModule,
    LargeModule,
    EndpointsModule,
  ],
  providers: [
    { provide: APP_GUARD, useExisting: AuthenticationGuard },
    { provide: APP_GUARD, useExisting: ImpersonationGuard },
    { provide: APP_GUARD, useExisting: InFlightGuard },
    { provide: APP_GUARD, useExisting: AuthorizationGuard },
    { provide: APP_FILTER, useExisting: StatusFilter },
    ClusterBootstrap,
  ],
})
export class AppModule {
  static of(
    options: ServerOptions,
    { logger, tls, worker, openDatabase, controllers, signal }: AppDependencies,
  ): DynamicModule {
    const host = {
      imports: [
        StorageModule,
        RegistryModule,
        AuthenticationModule,
        AuthorizationModule,
        AdmissionModule,
        NodeAgentsModule,
        EndpointsModule,
      ],
    };
    return {
      module: AppModule,
      imports: [
        OptionsModule.of(serverOptionGroups, options),
        ObservabilityModule.of(logger, worker),
        ProcessInfoModule.of('apiserver', shownFlags(serverOptionGroups, { ...options })),
        StartModule.of(signal),
        WayToDatabaseModule.of(openDatabase),
        TlsModule.of(tls),
        CustomResourcesModule,
        ...apiGroupModules(host),
        AdvertiseModule,
        ...(controllers === undefined ? [] : [ControllersModule.of(controllers)]),
      ],
    };
  }
}
