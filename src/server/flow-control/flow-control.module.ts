import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ApiOptions } from '../../base/config/api.options.js';
import { FEATURE_GATES, type FeatureGates } from '../../base/config/feature-gates.js';
import { formatGroupResource } from '../../base/machinery/group-version.js';
import { memoryLimits } from '../../base/machinery/memory-limits.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { Metrics } from '../../base/observability/metrics.js';
import { RegistryModule } from '../../objects/registry/registry.module.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { StartPatience } from '../../storage/start-patience.js';
import { STORAGE, type Storage } from '../../storage/storage.interface.js';
import { StorageModule } from '../../storage/storage.module.js';
import { BytesInHand, bytesLimits } from './bytes-in-hand.js';
import { registerBytesMetrics } from './bytes-metrics.js';
import { FlowConfiguration } from './flow-configuration.js';
import { FLOW_CONTROL, FlowControl } from './flow-control.js';
import { registerFlowMetrics } from './flow-metrics.js';
import { LongRunningMemory } from './long-running-memory.js';
import { registerLongRunningMetrics } from './long-running-metrics.js';
import type { FindUsage } from './work-estimator.js';

/** The fraction of the heap that long-running requests may occupy, unless a flag sets another limit. */
const partOfHeap = 1 / 4;

/**
 * API priority and fairness (specification 8); with `--enable-priority-and-fairness=false`, or without the feature gate
 * of that name, it is off. The memory of long-running requests and of large bodies is limited in any case.
 */
@Module({
  imports: [StorageModule, RegistryModule],
  providers: [
    {
      provide: FLOW_CONTROL,
      inject: [ApiOptions, STORAGE, Metrics, FEATURE_GATES],
      useFactory: (
        api: ApiOptions,
        storage: Storage,
        metrics: Metrics,
        features: FeatureGates,
      ): FlowControl | undefined => {
        if (!api.priorityAndFairness || !features.isOn('APIPriorityAndFairness')) return undefined;
        const seats = { readOnly: api.maxRequestsInflight, mutating: api.maxMutatingRequestsInflight };
        const control = new FlowControl(seats, systemTimers, findUsage(storage), metrics);
        registerFlowMetrics(metrics.registry, control);
        return control;
      },
    },
    {
      provide: LongRunningMemory,
      inject: [ApiOptions, Metrics],
      useFactory: ({ maxLongRunningRequestBytes: limit }: ApiOptions, metrics: Metrics): LongRunningMemory => {
        const memory = new LongRunningMemory(limit ?? Math.floor(memoryLimits().heap * partOfHeap));
        registerLongRunningMetrics(metrics.registry, memory);
        return memory;
      },
    },
    {
      provide: BytesInHand,
      inject: [FLOW_CONTROL, Metrics],
      useFactory: (control: FlowControl | undefined, metrics: Metrics): BytesInHand => {
        const inHand = new BytesInHand(bytesLimits, systemTimers, () => control?.hasSeveralFlows ?? false);
        registerBytesMetrics(metrics.registry, inHand);
        return inHand;
      },
    },
    {
      provide: FlowConfiguration,
      inject: [FLOW_CONTROL, ResourceStores, VENDOR_NAMES, Logger],
      useFactory: (control: FlowControl | undefined, stores: ResourceStores, names: VendorNames, logger: Logger) =>
        control && new FlowConfiguration({ stores, names, control, logger }),
    },
  ],
  exports: [FLOW_CONTROL, LongRunningMemory, BytesInHand],
})
export class FlowControlModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(FLOW_CONTROL) private readonly control: FlowControl | undefined,
    @Inject(FlowConfiguration) private readonly configuration: FlowConfiguration | undefined,
    @Inject(StartPatience) private readonly patience: StartPatience,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { control, configuration } = this;
    if (control === undefined || configuration === undefined) return;
    control.start();
    const { signal } = this.stopping;
    await this.patience.abortable(this.stopping, () => configuration.start(signal));
    await this.patience.until(() => configuration.prepare(signal));
    configuration.maintain(signal);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.control?.stop();
    await this.configuration?.stopped();
  }
}

/** Returns a function that looks up what the process knows about a resource without reading the store. */
function findUsage(storage: Storage): FindUsage {
  const unknown = { objects: undefined, isInMemory: false, watchers: 0 };
  return ({ apiGroup, resource, namespace, name }) =>
    storage.usage?.({ resource: formatGroupResource({ group: apiGroup, resource }), namespace, name }) ?? unknown;
}
