import { type CanActivate, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ApiOptions } from '../../base/config/api.options.js';
import { FEATURE_GATES, type FeatureGates } from '../../base/config/feature-gates.js';
import { ProxyPathOptions } from '../../base/config/proxy-path.options.js';
import { AUTHORIZER, type Authorizer } from '../../base/machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import { ProxyConnections } from '../../base/outgoing/proxy-connections.js';
import { metaKinds } from '../../objects/apis/meta/v1/meta-kinds.js';
import { SharedListers } from '../../objects/registry/informers/shared-listers.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { EncryptionAtRest } from '../../storage/encryption/encryption-at-rest.js';
import { PostgresStorage } from '../../storage/postgres/postgres-storage.js';
import { StartPatience } from '../../storage/start-patience.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { StorageModule } from '../../storage/storage.module.js';
import { AdmissionModule } from '../admission/admission.module.js';
import { AdmissionChain } from '../admission/admission-chain.js';
import { RequestAdmission } from '../admission/request-admission.js';
import { Aggregation } from '../aggregation/aggregation.js';
import { AggregationModule } from '../aggregation/aggregation.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { AuthenticationGuard } from '../authentication/authentication.guard.js';
import { AuthenticationModule } from '../authentication/authentication.module.js';
import { AUTHENTICATION, type Authentication } from '../authentication/build-authentication.js';
import { ImpersonationGuard } from '../authentication/impersonation/impersonation.guard.js';
import { AuthorizationGuard } from '../authorization/authorization.guard.js';
import { AuthorizationModule } from '../authorization/authorization.module.js';
import { AUTHORIZATION, type Authorization } from '../authorization/build-authorization.js';
import { BytesInHand } from '../flow-control/bytes-in-hand.js';
import { FlowControlModule } from '../flow-control/flow-control.module.js';
import { NodeAgents } from '../node-agents/node-agents.js';
import { NodeAgentsModule } from '../node-agents/node-agents.module.js';
import { CatchAllController } from './catch-all.controller.js';
import { ConnectionCuts } from './connection-cuts.js';
import { DebugController } from './debug/debug.controller.js';
import { FlowDumpsController } from './debug/flow-dumps.controller.js';
import { DiscoveryController, VERSION_INFO } from './discovery/discovery.controller.js';
import { versionInfo } from './discovery/version-info.js';
import { type EndpointDependencies, EndpointServices } from './endpoint-services.js';
import { HEALTH_CHECKS, HealthController } from './health/health.controller.js';
import type { HealthCheck } from './health/health-checks.js';
import { serverHealthChecks, storeDelayChecks } from './health/server-health.js';
import { HistoryController, PAST } from './history/history.controller.js';
import { HttpListener } from './http-listener.js';
import { LARGE_REQUESTS, type OpenLargeRequests } from './large-requests.interface.js';
import { listPageSize, maxBodyBytes } from './limits.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { InFlightGuard } from './request-info/in-flight.guard.js';
import { InFlightLimiter } from './request-info/in-flight-limiter.js';
import { REQUEST_GUARDS, ResourceRoutes } from './resource-routes.js';
import {
  ISSUER_DOCUMENTS,
  type IssuerDocumentsSource,
  issuerDocumentPaths,
  ServiceAccountIssuerController,
} from './service-account-issuer/service-account-issuer.controller.js';
import { ServingState } from './serving-state.js';
import { StatusFilter } from './status.filter.js';
import { type RunningTracer, TRACER, TracingModule } from './tracing.module.js';

/** In the order in which a request passes them. */
const guards = [AuthenticationGuard, ImpersonationGuard, InFlightGuard, AuthorizationGuard];
const ENDPOINT_DEPENDENCIES = Symbol('EndpointDependencies');

/** The HTTP side: the listener's hooks, the non-resource paths, and the dependencies of handlers. */
@Module({
  imports: [
    StorageModule,
    RegistryModule,
    AuthenticationModule,
    AuthorizationModule,
    AdmissionModule,
    AggregationModule,
    AuditModule,
    FlowControlModule,
    NodeAgentsModule,
    TracingModule,
  ],
  controllers: [
    HealthController,
    DebugController,
    FlowDumpsController,
    DiscoveryController,
    OpenApiController,
    ServiceAccountIssuerController,
    HistoryController,
    CatchAllController,
  ],
  providers: [
    { provide: PAST, useExisting: PostgresStorage },
    ServingState,
    HttpListener,
    StatusFilter,
    ...guards,
    { provide: REQUEST_GUARDS, inject: guards, useFactory: (...all: CanActivate[]) => all },
    ResourceRoutes,
    {
      provide: ConnectionCuts,
      inject: [Metrics, Logger],
      useFactory: (metrics: Metrics, logger: Logger) => new ConnectionCuts(metrics.registry, logger),
    },
    {
      provide: EndpointServices,
      inject: [
        ResourceStores,
        VENDOR_NAMES,
        Metrics,
        ApiOptions,
        ServingState,
        AUTHENTICATION,
        FEATURE_GATES,
        ENDPOINT_DEPENDENCIES,
      ],
      // Nest passes what `inject` lists as parameters.
      useFactory: (
        stores: ResourceStores,
        names: VendorNames,
        metrics: Metrics,
        {
          minRequestTimeoutSeconds,
          maxConnectionBytesPerSecond,
          deleteCollectionWorkers,
          garbageCollector,
          requestTimeoutMs,
        }: ApiOptions,
        state: ServingState,
        authentication: Authentication,
        features: FeatureGates,
        dependencies: EndpointDependencies,
      ) =>
        new EndpointServices(
          stores,
          names,
          metrics,
          {
            maxBodyBytes,
            minRequestTimeoutSeconds,
            maxConnectionBytesPerSecond,
            listPageSize,
            deleteCollectionWorkers,
            garbageCollector,
            features,
            remoteHeadLimitMs: requestTimeoutMs,
            shutdown: state.ended,
            documentPaths: () => (authentication.issuerDocuments === undefined ? [] : issuerDocumentPaths),
          },
          metaKinds,
          dependencies,
        ),
    },
    {
      provide: ENDPOINT_DEPENDENCIES,
      inject: [AdmissionChain, AUTHORIZER, Aggregation, NodeAgents, ProxyPathOptions, BytesInHand],
      useFactory: (
        chain: AdmissionChain,
        authorizer: Authorizer,
        aggregation: Aggregation,
        nodeAgents: NodeAgents,
        { proxyDeniedCidrs }: ProxyPathOptions,
        inHand: BytesInHand,
      ): EndpointDependencies => ({
        admission: new RequestAdmission(chain, authorizer),
        aggregation,
        nodeAgents,
        proxies: new ProxyConnections(new DeniedAddresses(proxyDeniedCidrs)),
        inHand,
      }),
    },
    {
      provide: InFlightLimiter,
      inject: [ApiOptions, Metrics],
      useFactory: (api: ApiOptions, metrics: Metrics) =>
        new InFlightLimiter(
          {
            readOnly: api.maxRequestsInflight,
            mutating: api.maxMutatingRequestsInflight,
            unauthenticated: api.maxUnauthenticatedRequestsInflight,
          },
          metrics,
        ),
    },
    {
      provide: HEALTH_CHECKS,
      inject: [STORAGE, ServingState, ApiOptions, AUTHORIZATION, EncryptionAtRest, SharedListers, Metrics],
      // Nest passes what `inject` lists as parameters.
      useFactory: (
        storage: Storage,
        state: ServingState,
        { livezGracePeriodMs }: ApiOptions,
        authorization: Authorization,
        encryption: EncryptionAtRest,
        listers: SharedListers,
        metrics: Metrics,
      ): readonly HealthCheck[] => [
        ...serverHealthChecks(storage, state, livezGracePeriodMs),
        ...storeDelayChecks(storage, {
          informersLostMs: () => listers.lostForMs,
          logAgeMs: () => metrics.changeLog.ageMs,
        }),
        ...encryption.healthChecks,
        ...authorization.healthChecks,
      ],
    },
    {
      provide: ISSUER_DOCUMENTS,
      inject: [AUTHENTICATION],
      useFactory: (authentication: Authentication): IssuerDocumentsSource => ({
        documents: () => authentication.issuerDocuments,
      }),
    },
    {
      provide: VERSION_INFO,
      inject: [Metrics],
      useFactory: (metrics: Metrics) => {
        const info = versionInfo();
        metrics.setBuild(info);
        return info;
      },
    },
  ],
  exports: [InFlightLimiter, EndpointServices, ServingState, StatusFilter, ...guards],
})
export class EndpointsModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(PostgresStorage) private readonly database: PostgresStorage,
    @Inject(LARGE_REQUESTS) private readonly openLargeRequests: OpenLargeRequests,
    @Inject(StartPatience) private readonly patience: StartPatience,
    @Inject(TRACER) private readonly tracer: RunningTracer | undefined,
  ) {}

  /** Reads the signing key of continue tokens from the database, which is open by now. */
  async onModuleInit(): Promise<void> {
    const key = await this.patience.until(() => this.database.serverKey('continue-token'));
    this.services.continueTokens.useKey(key);
    this.services.largeRequests = this.openLargeRequests(key);
  }

  async onApplicationShutdown(): Promise<void> {
    this.services.proxies?.stop();
    await this.services.largeRequests?.stop();
    // Spans that the collector has not accepted by then are lost; the shutdown continues.
    await this.tracer?.stop().catch(() => undefined);
  }
}
