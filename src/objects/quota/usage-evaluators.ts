import type { GroupResource } from '../../base/machinery/group-version.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { isStoredResource, type ResourceRegistry, type ServedResource } from '../registry/resource-registry.js';
import { claimUsage } from './claim-usage.js';
import { deviceUsage } from './device-usage.js';
import { objectUsage } from './object-usage.js';
import { podUsage } from './pod-usage.js';
import { serviceUsage } from './service-usage.js';
import type { UsageEvaluator } from './usage-evaluator.js';

/** A resource whose objects quotas can count. */
export interface MeasuredResource {
  readonly storageResource: string;
  readonly evaluator: UsageEvaluator;
}

/** The evaluators of all resources, made on first use. Quotas count namespaced objects that are stored. */
export class UsageEvaluators {
  private readonly made = new WeakMap<ResourceDefinition, UsageEvaluator>();

  constructor(
    private readonly registry: Pick<ResourceRegistry, 'find' | 'servedViews' | 'definitions'>,
    private readonly names: VendorNames,
  ) {}

  /** The evaluator of a resource as a request names it; undefined for one that quotas don't count. */
  of(group: string, version: string, resource: string): UsageEvaluator | undefined {
    const found = this.registry.find(group, version, resource);
    return found === undefined ? undefined : this.ofResource(found);
  }

  /** All resources that quotas can count, once each. */
  all(): MeasuredResource[] {
    const found = new Map<string, MeasuredResource>();
    for (const definition of this.registry.definitions()) {
      const resource = this.registry.find(definition.group, definition.versions[0].version, definition.resource);
      const evaluator = resource === undefined ? undefined : this.ofResource(resource);
      if (resource === undefined || evaluator === undefined) continue;
      found.set(resource.storageResource, { storageResource: resource.storageResource, evaluator });
    }
    return [...found.values()];
  }

  private ofResource(resource: ServedResource): UsageEvaluator | undefined {
    if (!isStoredResource(resource) || !resource.definition.namespaced) return undefined;
    const { storageResource } = resource;
    let evaluator = this.made.get(resource.definition);
    if (evaluator === undefined) {
      const views = this.registry.servedViews(resource).map(({ definition }) => definition);
      evaluator = this.make(storageResource, [resource.definition, ...views]);
      this.made.set(resource.definition, evaluator);
    }
    return evaluator;
  }

  private make(storageResource: string, resources: readonly GroupResource[]): UsageEvaluator {
    switch (storageResource) {
      case 'pods':
        return podUsage(this.names);
      case 'services':
        return serviceUsage;
      case 'persistentvolumeclaims':
        return claimUsage(this.names);
      case `resourceclaims.${groupName('resource', this.names)}`:
        return deviceUsage(this.names);
      default:
        return objectUsage(resources);
    }
  }
}
