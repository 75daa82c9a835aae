import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource, parseApiVersion } from '../../../base/machinery/group-version.js';
import type { Scale } from '../../../objects/apis/autoscaling/v1/scale.types.js';
import type { CrossVersionObjectReference } from '../../../objects/apis/autoscaling/v2/metric.types.js';
import type { ResourceRegistry, ServedResource } from '../../../objects/registry/resource-registry.js';
import type { LoopClient, ResourceClient } from '../frame/loop-client.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { DescribedObject } from './metrics-client.js';

export type StoredScale = Scale & ApiObject;

/** The object that an autoscaler scales. */
export interface ScaleTarget {
  readonly client: ResourceClient<ApiObject>;
  readonly scale: StoredScale;
}

/** Finds the objects that references of autoscalers name. Throws Errors whose messages are fit for conditions. */
export class ScaleTargets {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly client: LoopClient,
  ) {}

  async find(work: ReconcileContext, namespace: string, reference: CrossVersionObjectReference): Promise<ScaleTarget> {
    const { storageResource } = this.resourceOf(reference);
    const dot = storageResource.indexOf('.');
    const resource = dot < 0 ? storageResource : storageResource.slice(0, dot);
    const client = this.client.of({ group: dot < 0 ? '' : storageResource.slice(dot + 1), resource });
    if (!client.hasView('scale')) throw new Error('the server could not find the requested resource');
    const scale = await client.view<StoredScale>(work, namespace, reference.name, 'scale');
    if (scale === undefined) throw new Error(`${storageResource} "${reference.name}" not found`);
    return { client, scale };
  }

  describe(reference: CrossVersionObjectReference): DescribedObject {
    const { group, resource } = this.resourceOf(reference).definition;
    const isNamespace = group === '' && resource === 'namespaces';
    return { resource: formatGroupResource({ group, resource }), name: reference.name, isNamespace };
  }

  /** Finds the resource by group and kind: any version of the group will do. */
  private resourceOf({ kind, apiVersion = '' }: CrossVersionObjectReference): ServedResource {
    const group = apiVersion === '' ? '' : parseApiVersion(apiVersion)?.group;
    if (group === undefined) {
      throw new Error(`invalid API version in scale target reference: unexpected GroupVersion string: ${apiVersion}`);
    }
    for (const version of this.registry.group(group)?.versions ?? []) {
      const found = this.registry.findKind(group, version, kind);
      if (found !== undefined) return found;
    }
    throw new Error(`no matches for kind "${kind}" in group "${group}"`);
  }
}
