import { Inject, Module, type OnApplicationBootstrap, type Provider } from '@nestjs/common';
import { ClusterOptions } from '../../base/config/cluster.options.js';
import { FEATURE_GATES, type FeatureGates, type FeatureName } from '../../base/config/feature-gates.js';
import { featureMetrics } from '../../base/config/feature-metrics.js';
import { OptionsError } from '../../base/config/options-error.js';
import { RuntimeConfig } from '../../base/config/runtime-config.js';
import { StorageOptions } from '../../base/config/storage.options.js';
import { watchCacheResources } from '../../base/config/watch-cache-sizes.js';
import { Metrics } from '../../base/observability/metrics.js';
import { StorageModule } from '../../storage/storage.module.js';
import { SERVICE_RANGES } from './allocation/service-ranges.js';
import { ResourceRegistry } from './resource-registry.js';
import { ResourceStores } from './store/resource-stores.js';

/** Providers of an empty registry, which knows which resources are served. */
export const registryProviders: Provider[] = [
  {
    provide: RuntimeConfig,
    inject: [ClusterOptions],
    useFactory: (options: ClusterOptions) => RuntimeConfig.of(options.runtimeConfig),
  },
  {
    provide: ResourceRegistry,
    inject: [RuntimeConfig, FEATURE_GATES],
    useFactory: (config: RuntimeConfig, features: FeatureGates) =>
      new ResourceRegistry((resource, { isOffByDefault = false, isOnlyByName = false, neededGate, deprecated }) => {
        const isOpen = neededGate === undefined || features.isOn(neededGate as FeatureName);
        return (
          isOpen && config.isServed(resource, { isOffByDefault, isOnlyByName: isOnlyByName || deprecated?.isRemoved })
        );
      }),
  },
  ResourceStores,
  { provide: SERVICE_RANGES, useExisting: ClusterOptions },
];

/** The resources of the process: API groups register their definitions here when they start. */
@Module({
  imports: [StorageModule],
  providers: registryProviders,
  exports: [ResourceRegistry, ResourceStores, SERVICE_RANGES],
})
export class RegistryModule implements OnApplicationBootstrap {
  constructor(
    @Inject(RuntimeConfig) private readonly config: RuntimeConfig,
    @Inject(ResourceRegistry) private readonly registry: ResourceRegistry,
    @Inject(StorageOptions) private readonly storage: Pick<StorageOptions, 'watchCacheSizes'>,
    @Inject(Metrics) { registry: metrics }: Metrics,
    @Inject(FEATURE_GATES) features: FeatureGates,
  ) {
    featureMetrics(metrics, features);
  }

  /**
   * Throws OptionsError for keys of `--runtime-config` and names in `--watch-cache-sizes` that match nothing. All
   * resources are registered by then. Names in groups that this server does not have may be those of custom resources.
   */
  onApplicationBootstrap(): void {
    const known = this.registry
      .definitions()
      .flatMap(({ group, resource, versions }) => versions.map(({ version }) => ({ group, version, resource })));
    const problems = this.config.unknownKeys(known);
    const groups = new Set(known.map(({ group }) => group));
    for (const name of watchCacheResources(this.storage.watchCacheSizes)) {
      const group = name.includes('.') ? name.slice(name.indexOf('.') + 1) : '';
      if (groups.has(group) && this.registry.findStored(name) === undefined)
        problems.push(`--watch-cache-sizes ${name}: no such resource`);
    }
    if (problems.length > 0) throw new OptionsError(problems);
  }
}
