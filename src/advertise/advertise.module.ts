import { type BeforeApplicationShutdown, Inject, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { SecureServingOptions } from '../config/secure-serving.options.js';
import { EndpointsModule } from '../endpoints/endpoints.module.js';
import { VENDOR_NAMES, type VendorNames } from '../machinery/vendor.js';
import { Logger } from '../observability/logger.js';
import { RegistryModule } from '../registry/registry.module.js';
import { ResourceStores } from '../registry/store/resource-stores.js';
import type { Advertiser } from './advertiser.js';
import { buildAdvertiser } from './build-advertiser.js';

/**
 * Tells the cluster where the API is served. It imports the endpoints so that it stops before them: clients go
 * elsewhere while this process still answers.
 */
@Module({ imports: [RegistryModule, EndpointsModule] })
export class AdvertiseModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private advertiser: Advertiser | undefined;

  constructor(
    @Inject(VENDOR_NAMES) private readonly names: VendorNames,
    @Inject(ResourceStores) private readonly stores: ResourceStores,
    @Inject(SecureServingOptions) private readonly serving: SecureServingOptions,
    @Inject(Logger) private readonly logger: Logger,
  ) {}

  /** All resources are registered by now. */
  async onApplicationBootstrap(): Promise<void> {
    const { names, stores } = this;
    this.advertiser = await buildAdvertiser({ names, stores }, this.serving, this.logger);
  }

  /** Starts in the background; call it once the server listens. */
  start(): void {
    this.advertiser?.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.advertiser?.withdraw();
  }
}
