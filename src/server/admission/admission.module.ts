import { type FactoryProvider, Module, type Provider } from '@nestjs/common';
import { AdmissionOptions, admissionPluginNames } from '../../base/config/admission.options.js';
import {
  type AdmissionConfiguration,
  noAdmissionConfiguration,
  readAdmissionConfiguration,
} from '../../base/config/admission-configuration.js';
import { FEATURE_GATES, type FeatureGates } from '../../base/config/feature-gates.js';
import { AUTHORIZER, type Authorizer } from '../../base/machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { ListersLifecycle } from '../../objects/registry/informers/listers-lifecycle.js';
import { NamespaceLister } from '../../objects/registry/informers/namespace-lister.js';
import { SharedListers } from '../../objects/registry/informers/shared-listers.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { WRITE_ADMISSION } from '../../objects/registry/store/admitted-store.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { StorageReader } from '../../objects/registry/store/storage-reader.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { StorageModule } from '../../storage/storage.module.js';
import { AuthorizationModule } from '../authorization/authorization.module.js';
import { AdmissionChain } from './admission-chain.js';
import { AdmissionMetrics } from './admission-metrics.js';
import { buildAdmission } from './build-admission.js';
import { OwnWriteAdmission } from './own-write-admission.js';
import { PluginConfigurations } from './plugin-configurations.js';
import { WEBHOOK_CALL_COUNTER, type WebhookCallCounter, WebhookMetrics } from './webhooks/webhook-metrics.js';

/** Injection token of the {@link AdmissionConfiguration}. */
export const ADMISSION_CONFIGURATION = Symbol('AdmissionConfiguration');

const admissionConfiguration: FactoryProvider<AdmissionConfiguration> = {
  provide: ADMISSION_CONFIGURATION,
  inject: [AdmissionOptions, VENDOR_NAMES],
  useFactory: ({ admissionControlConfigFile: file }: AdmissionOptions, names: VendorNames) =>
    file === undefined ? noAdmissionConfiguration : readAdmissionConfiguration(file, names, admissionPluginNames),
};

/** The plugins that the options select. */
const admissionChain: FactoryProvider<AdmissionChain> = {
  provide: AdmissionChain,
  inject: [
    AdmissionOptions,
    ADMISSION_CONFIGURATION,
    VENDOR_NAMES,
    AUTHORIZER,
    NamespaceLister,
    SharedListers,
    ResourceStores,
    Logger,
    Metrics,
    WEBHOOK_CALL_COUNTER,
    FEATURE_GATES,
  ],
  // Nest passes what `inject` lists as parameters.
  useFactory: (
    options: AdmissionOptions,
    configuration: AdmissionConfiguration,
    names: VendorNames,
    authorizer: Authorizer,
    namespaces: NamespaceLister,
    listers: SharedListers,
    stores: ResourceStores,
    logger: Logger,
    { registry: metrics }: Metrics,
    hookCalls: WebhookCallCounter,
    features: FeatureGates,
  ) =>
    buildAdmission({
      options,
      configuration: new PluginConfigurations(configuration),
      names,
      authorizer,
      namespaces,
      listers,
      countingListers: listers,
      laterListers: listers,
      stores,
      registry: stores.registry,
      objects: new StorageReader(stores.storage, stores.registry),
      clock: stores.clock,
      logger,
      metrics: new AdmissionMetrics(metrics),
      hookCalls,
      features,
    }),
};

/**
 * Providers of the chain and of the objects that plugins read from memory, for every thread that serves requests. They
 * include the configuration.
 */
export const admissionProviders: Provider[] = [
  {
    provide: SharedListers,
    inject: [STORAGE, ResourceRegistry, Logger],
    useFactory: (storage: Storage, registry: ResourceRegistry, logger: Logger) =>
      new SharedListers(storage, registry, (error) =>
        logger.warn('the informers of admission lost their place in the change log', { error }),
      ),
  },
  {
    provide: NamespaceLister,
    inject: [SharedListers, STORAGE, ResourceRegistry],
    useFactory: (listers: SharedListers, storage: Storage, registry: ResourceRegistry) =>
      new NamespaceLister(listers, storage, registry),
  },
  ListersLifecycle,
  admissionChain,
];

/**
 * The chain of admission plugins and the objects that plugins read from memory. Writes get the chain with the services
 * of the endpoints.
 */
@Module({
  imports: [StorageModule, RegistryModule, AuthorizationModule],
  providers: [
    admissionConfiguration,
    ...admissionProviders,
    {
      provide: WEBHOOK_CALL_COUNTER,
      inject: [Metrics],
      useFactory: ({ registry }: Metrics) => new WebhookMetrics(registry),
    },
    { provide: WRITE_ADMISSION, useClass: OwnWriteAdmission },
  ],
  exports: [
    ADMISSION_CONFIGURATION,
    WEBHOOK_CALL_COUNTER,
    AdmissionChain,
    AuthorizationModule,
    SharedListers,
    WRITE_ADMISSION,
  ],
})
export class AdmissionModule {}
