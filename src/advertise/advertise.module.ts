import { type BeforeApplicationShutdown, Inject, Module } from '@nestjs/common';
import { SecureServingOptions } from '../config/secure-serving.options.js';
import { EndpointsModule } from '../endpoints/endpoints.module.js';
import { VENDOR_NAMES, type VendorNames } from '../machinery/vendor.js';
import { Logger } from '../observability/logger.js';
import { RegistryModule } from '../registry/registry.module.js';
import { ResourceStores } from '../registry/resource-stores.js';
import { Advertiser } from './advertiser.js';
import { buildAdvertiser } from './build-advertiser.js';

/**
 * Tells the cluster where the API is served, from when the server listens. Stops before the endpoints, which it imports for
 * that: clients go elsewhere while this process still answers.
 */
@Module({
  imports: [RegistryModule, EndpointsModule],
  providers: [
    {
      provide: Advertiser,
      inject: [VENDOR_NAMES, ResourceStores, SecureServingOptions, Logger],
      useFactory: (names: VendorNames, stores: ResourceStores, serving: SecureServingOptions, logger: Logger) =>
        buildAdvertiser({ names, stores }, serving, logger),
    },
  ],
})
export class AdvertiseModule implements BeforeApplicationShutdown {
  constructor(@Inject(Advertiser) private readonly advertiser: Advertiser) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.advertiser.withdraw();
  }
}
