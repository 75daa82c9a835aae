import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { isStoredResource, type ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { readStored } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { type GraphNode, isMeant, isWaiting, nodeOf, type ObjectGraph } from './object-graph.js';

/**
 * What a reference of a dependent leads to. `solid`: an owner that stays. `waiting`: one that is being deleted after its
 * dependents. `absent`: none, for certain. `misplaced`: no object of the cluster can have an owner in a namespace.
 * `unknown`: the kind is not known, or who knows it does not answer.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'misplaced' | 'unknown';

/** Finds out about owners that the server itself does not keep. */
export interface RemoteOwners {
  /** undefined: nobody serves the kind, or who does does not answer. `namespace` is that of the dependent. */
  find(
    reference: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Exclude<OwnerState, 'unknown'> | undefined>;
}

/** Finds out what references lead to. An owner counts as absent only after a read of the store that says so. */
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
