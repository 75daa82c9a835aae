import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { isStoredResource, type ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { readStored } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { type GraphNode, isMeant, isWaiting, nodeOf, type ObjectGraph } from './object-graph.js';

/**
 * The target of a dependent's reference. `solid`: an owner that stays. `waiting`: one that is being deleted after its
 * dependents. `absent`: none, for certain. `misplaced`: a cluster-scoped object can't have an owner in a namespace.
 * `unknown`: the kind is not known, or its server does not answer.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'misplaced' | 'unknown';

/** Looks up owners that the server itself does not store. */
export interface RemoteOwners {
  /** undefined: no server serves the kind, or its server does not answer. `namespace` is that of the dependent. */
  find(
    reference: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Exclude<OwnerState, 'unknown'> | undefined>;
}

/** Resolves references. An owner counts as absent only after a read of the store that confirms it. */
export class OwnerFinder {
  constructor(
    private readonly storage: Pick<Storage, 'get'>,
    private readonly registry: ResourceRegistry,
    private readonly graph: ObjectGraph,
    private readonly remote: RemoteOwners | undefined,
  ) {}

  async find(reference: OwnerReference, dependent: GraphNode, signal: AbortSignal): Promise<OwnerState> {
    const { apiVersion, kind, name, uid } = reference;
    const known = this.graph.get(uid);
    if (known !== undefined && isMeant(reference, known, dependent)) return isWaiting(known) ? 'waiting' : 'solid';
    const groupVersion = parseApiVersion(apiVersion);
    if (groupVersion === undefined) return 'unknown';
    const { group, version } = groupVersion;
    const groupKind = { group, kind };
    const { absent } = this.graph;
    if (absent.has(groupKind, dependent.namespace, name, uid) || absent.has(groupKind, '', name, uid)) return 'absent';
    const resource = this.registry.findKind(group, version, kind);
    if (resource === undefined || !isStoredResource(resource)) {
      const state = await this.remote?.find(reference, dependent.namespace, signal);
      if (state === 'absent') absent.add(groupKind, dependent.namespace, name, uid);
      return state ?? 'unknown';
    }
    const { namespaced } = resource.definition;
    if (namespaced && dependent.namespace === '') return 'misplaced';
    const namespace = namespaced ? dependent.namespace : '';
    const stored = await this.storage.get({ resource: resource.storageResource, namespace, name });
    if (stored === undefined || stored.uid !== uid) {
      absent.add(groupKind, namespace, name, uid);
      return 'absent';
    }
    return isWaiting(nodeOf(dependent.resource, await this.read(stored), '')) ? 'waiting' : 'solid';
  }

  private async read(stored: Parameters<typeof readStored>[1]): Promise<ApiObject> {
    return readStored(this.registry, stored);
  }
}
