import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuthorizationOptions } from '../../base/config/authorization.options.js';
import { processIdentity } from '../../base/config/process-identity.js';
import { SecureServingOptions } from '../../base/config/secure-serving.options.js';
import { AUTHORIZER, RULE_RESOLVER } from '../../base/machinery/authorizer.js';
import { CLOCK, type Clock } from '../../base/machinery/clock.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { StartPatience } from '../../storage/start-patience.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { StorageModule } from '../../storage/storage.module.js';
import { AUTHORIZATION_METRICS, AuthorizationMetrics } from './authorization-metrics.js';
import { AUTHORIZATION, type Authorization, buildAuthorization } from './build-authorization.js';

/** The configured authorization modes and their in-memory state, which is filled before the first request. */
@Module({
  imports: [StorageModule, RegistryModule],
  providers: [
    {
      provide: AUTHORIZATION,
      inject: [
        AuthorizationOptions,
        STORAGE,
        ResourceRegistry,
        VENDOR_NAMES,
        CLOCK,
        Logger,
        Metrics,
        // A controller process does not serve requests.
        { token: SecureServingOptions, optional: true },
      ],
      // Nest passes what `inject` lists as parameters.
      useFactory: (
        options: AuthorizationOptions,
        storage: Storage,
        registry: ResourceRegistry,
        names: VendorNames,
        clock: Clock,
        logger: Logger,
        { registry: metrics, workerIndex }: Metrics,
        serving: SecureServingOptions | undefined,
      ): Authorization => {
        const processId = processIdentity(serving?.securePort ?? 0, workerIndex);
        return buildAuthorization(options, { storage, registry, names, clock, logger, metrics, processId });
      },
    },
    {
      provide: AUTHORIZATION_METRICS,
      inject: [Metrics],
      useFactory: ({ registry }: Metrics) => new AuthorizationMetrics(registry),
    },
    { provide: AUTHORIZER, inject: [AUTHORIZATION], useFactory: ({ authorizer }: Authorization) => authorizer },
    { provide: RULE_RESOLVER, inject: [AUTHORIZATION], useFactory: ({ rules }: Authorization) => rules },
  ],
  exports: [AUTHORIZATION, AUTHORIZATION_METRICS, AUTHORIZER, RULE_RESOLVER],
})
export class AuthorizationModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(AUTHORIZATION) private readonly authorization: Authorization,
    @Inject(StartPatience) private readonly patience: StartPatience,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.patience.abortable(this.stopping, () => this.authorization.start(this.stopping.signal));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.authorization.stopped();
  }
}
