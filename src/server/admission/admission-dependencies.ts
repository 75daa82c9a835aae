import type { AdmissionOptions } from '../../base/config/admission.options.js';
import type { Authorizer } from '../../base/machinery/authorizer.js';
import type { Clock } from '../../base/machinery/clock.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { NamespaceLister } from '../../objects/registry/informers/namespace-lister.js';
import type { SharedListers } from '../../objects/registry/informers/shared-listers.js';
import type { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import type { ObjectReader } from '../../objects/registry/store/storage-reader.js';
import type { AdmissionMetrics } from './admission-metrics.js';
import type { PluginConfigurations } from './plugin-configurations.js';
import type { WebhookCallCounter } from './webhooks/webhook-metrics.js';

/** The inputs of the plugins' decisions. */
export interface AdmissionDependencies {
  readonly names: VendorNames;
  readonly authorizer: Authorizer;
  readonly namespaces: Pick<NamespaceLister, 'state' | 'get'>;
  /** Reads the current state of single objects that memory does not have yet. */
  readonly objects: ObjectReader;
  /** Objects in memory. Only factories may request them. */
  readonly listers: Pick<SharedListers, 'of'>;
  /** Data in memory that is derived from all objects of a resource together. Only factories may request it. */
  readonly countingListers: Pick<SharedListers, 'counting'>;
  /** Objects in memory of resources that are not known before a request names them. */
  readonly laterListers: Pick<SharedListers, 'later'>;
  /** Complete only once the program has started. */
  readonly registry: ResourceRegistry;
  readonly stores: ResourceStores;
  /** The plugins' flags. */
  readonly options: AdmissionOptions;
  readonly configuration: Pick<PluginConfigurations, 'of'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: AdmissionMetrics;
  readonly hookCalls: WebhookCallCounter;
}
