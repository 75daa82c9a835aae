import { type BeforeApplicationShutdown, Inject, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { ApiOptions } from '../../base/config/api.options.js';
import { FEATURE_GATES, type FeatureGates } from '../../base/config/feature-gates.js';
import { processIdentity } from '../../base/config/process-identity.js';
import { SecureServingOptions } from '../../base/config/secure-serving.options.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { groupName, VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { EndpointsModule } from '../endpoints/endpoints.module.js';
import type { Advertiser } from './advertiser.js';
import { buildAdvertiser } from './build-advertiser.js';
import { IdentityLease } from './identity-lease.js';

/**
 * Publishes in the cluster at which addresses the API is served. It imports the endpoints so that it stops before them:
 * clients move to other processes while this one still serves.
 */
@Module({ imports: [RegistryModule, EndpointsModule] })
export class AdvertiseModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private advertiser: Advertiser | undefined;
  private identity: IdentityLease | undefined;

  // Nest passes each dependency as a parameter; an object would need a factory with the same list.
  constructor(
    @Inject(VENDOR_NAMES) private readonly names: VendorNames,
    @Inject(ResourceStores) private readonly stores: ResourceStores,
    @Inject(SecureServingOptions) private readonly serving: SecureServingOptions,
    @Inject(ApiOptions) private readonly api: ApiOptions,
    @Inject(FEATURE_GATES) private readonly features: FeatureGates,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(Logger) private readonly logger: Logger,
  ) {}

  /** This hook runs after all resources are registered. */
  async onApplicationBootstrap(): Promise<void> {
    const { names, stores } = this;
    if (this.serving.endpointReconcilerType !== 'none') {
      this.advertiser = await buildAdvertiser({ names, stores }, this.serving, this.logger);
    }
    if (!this.features.isOn('APIServerIdentity')) return;
    this.identity = new IdentityLease({
      names,
      clock: stores.clock,
      leases: stores.owning(groupName('coordination', names), 'leases', names.fieldManagers.server),
      identity: processIdentity(this.serving.securePort, this.metrics.workerIndex),
      durationSeconds: this.api.identityLeaseDurationSeconds,
      renewSeconds: this.api.identityLeaseRenewIntervalSeconds,
      logger: this.logger,
      timers: systemTimers,
    });
  }

  /** Starts publishing in the background; call it once the server listens. */
  start(): void {
    this.advertiser?.start();
    this.identity?.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.identity?.end();
    await this.advertiser?.withdraw();
  }
}
