import {
  type FactoryProvider,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { AuthorizationModule } from '../authorization/authorization.module.js';
import { AdmissionOptions } from '../config/admission.options.js';
import { AUTHORIZER, type Authorizer } from '../machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../machinery/vendor.js';
import { Logger } from '../observability/logger.js';
import { NamespaceLister } from '../registry/informers/namespace-lister.js';
import { RegistryModule } from '../registry/registry.module.js';
import { ResourceRegistry } from '../registry/resource-registry.js';
import { StorageReader } from '../registry/store/object-reader.js';
import { ResourceStores } from '../registry/store/resource-stores.js';
import { StartPatience } from '../storage/start-patience.js';
import { STORAGE, type Storage } from '../storage/storage.interface.js';
import { StorageModule } from '../storage/storage.module.js';
import { AdmissionInterceptor } from './admission.interceptor.js';
import { buildAdmission } from './build-admission.js';
import { AdmissionChain } from './chain.js';

/** The plugins that the options select. */
export const admissionChain: FactoryProvider<AdmissionChain> = {
  provide: AdmissionChain,
  inject: [AdmissionOptions, VENDOR_NAMES, AUTHORIZER, NamespaceLister, ResourceStores],
  useFactory: (
    options: AdmissionOptions,
    names: VendorNames,
    authorizer: Authorizer,
    namespaces: NamespaceLister,
    stores: ResourceStores,
  ) =>
    buildAdmission(options, {
      names,
      authorizer,
      namespaces,
      objects: new StorageReader(stores.storage, stores.registry),
    }),
};

/**
 * The chain of admission plugins, the interceptor that hands it to writes, and the namespaces that plugins know from
 * memory.
 */
@Module({
  imports: [StorageModule, RegistryModule, AuthorizationModule],
  providers: [
    {
      provide: NamespaceLister,
      inject: [STORAGE, ResourceRegistry, Logger],
      useFactory: (storage: Storage, registry: ResourceRegistry, logger: Logger) =>
        new NamespaceLister(storage, registry, (error) =>
          logger.warn('the namespace index lost its place in the change log', { error }),
        ),
    },
    admissionChain,
    AdmissionInterceptor,
  ],
  // Includes what the interceptor injects: Nest makes one interceptor for each module whose controllers use it.
  exports: [NamespaceLister, AdmissionChain, AdmissionInterceptor, AuthorizationModule],
})
export class AdmissionModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(NamespaceLister) private readonly namespaces: NamespaceLister,
    @Inject(StartPatience) private readonly patience: StartPatience,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.patience.abortable(this.stopping, () => this.namespaces.start(this.stopping.signal));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.namespaces.stopped();
  }
}
