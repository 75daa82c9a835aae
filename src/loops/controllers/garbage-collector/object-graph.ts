import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { type GroupKind, parseApiVersion } from '../../../base/machinery/group-version.js';
import { LargeMap } from '../../../base/machinery/large-map.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import { AbsentOwners } from './absent-owners.js';
import { fewOwners, ManyOwners } from './many-owners.js';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** A resource whose objects are in the graph. */
export interface GraphResource extends GroupKind {
  /** The name under which the objects are stored. */
  readonly storageResource: string;
  /** The `apiVersion` of the stored version. */
  readonly apiVersion: string;
  readonly namespaced: boolean;
}

/** What the graph keeps of one object: enough to decide about it, and no more, for there may be very many. */
export interface GraphNode {
  readonly resource: GraphResource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Recomputed on each access for {@link crowd very many} owners. */
  readonly owners: readonly OwnerReference[];
  /** Set for an object with very many owners. */
  readonly crowd?: ManyOwners;
  readonly isDeleting: boolean;
  /** The finalizers that ask the garbage collector for work. */
  readonly orphans: boolean;
  readonly waits: boolean;
}

const noOwners: readonly OwnerReference[] = [];
const nobody: ReadonlySet<never> = new Set();

/** The node of an object as it is stored. */
export function nodeOf(resource: GraphResource, { metadata }: ApiObject, resourceVersion: string): GraphNode {
  const { namespace = '', name = '', uid = '', ownerReferences = noOwners, finalizers = [] } = metadata;
  const node = {
    resource,
    namespace,
    name,
    uid,
    resourceVersion,
    owners: ownerReferences.length === 0 ? noOwners : ownerReferences,
    isDeleting: metadata.deletionTimestamp !== undefined,
    orphans: finalizers.includes(orphanFinalizer),
    waits: finalizers.includes(foregroundFinalizer),
  };
  return ownerReferences.length > fewOwners ? crowded(node) : node;
}

function crowded(node: GraphNode): GraphNode {
  const crowd = new ManyOwners(node.owners);
  return {
    ...node,
    crowd,
    get owners() {
      return crowd.list;
    },
  };
}

/** Substrings of stored JSON that has to be parsed to make the object's node. */
const signs = ['"ownerReferences":', '"finalizers":', '"deletionTimestamp":'] as const;

/**
 * The node of an object that has no owners or finalizers and is not being deleted, without parsing its JSON: most of
 * very many objects are like that. Undefined for an object that may be different.
 */
export function plainNodeOf(
  resource: GraphResource,
  { key: { namespace, name }, uid, resourceVersion, json }: StoredObject,
): GraphNode | undefined {
  if (signs.some((sign) => json.includes(sign))) return undefined;
  return nodeOf(resource, { metadata: { namespace, name, uid } }, String(resourceVersion));
}

/** Whether the object is being deleted, and stays until its dependents are gone. */
export function isWaiting({ isDeleting, orphans, waits }: GraphNode): boolean {
  return isDeleting && waits && !orphans;
}

/** Whether the object is being deleted, and stays until its dependents no longer reference it. */
export function isOrphaning({ isDeleting, orphans }: GraphNode): boolean {
  return isDeleting && orphans;
}

/** Whether a reference of `dependent` can mean `owner`: objects have owners in their namespace or in the cluster. */
export function mayOwn(owner: GraphNode, dependent: GraphNode): boolean {
  return owner.namespace === '' || owner.namespace === dependent.namespace;
}

/** Whether a reference of `dependent` matches the name, kind and group of `owner`. */
export function isMeant({ apiVersion, kind, name }: OwnerReference, owner: GraphNode, dependent: GraphNode): boolean {
  if (owner.name !== name || owner.resource.kind !== kind || !mayOwn(owner, dependent)) return false;
  return apiVersion === owner.resource.apiVersion || parseApiVersion(apiVersion)?.group === owner.resource.group;
}

/**
 * All objects with their owners, and the objects that each uid owns, whether its object exists or not. Reports which
 * objects have to be checked after each change.
 */
export class ObjectGraph {
  private readonly nodes = new LargeMap<GraphNode>();
  private readonly dependents = new LargeMap<Set<string>>();
  /** The uids of objects with very many owners, by namespace. They are not among the dependents. */
  private readonly crowded = new Map<string, Set<string>>();
  readonly absent = new AbsentOwners();

  /** @param touch receives the uid of each object that may have to be deleted, released or changed. */
  constructor(private readonly touch: (uid: string) => void) {}

  get size(): number {
    return this.nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.nodes.get(uid);
  }

  all(): Iterable<GraphNode> {
    return this.nodes.values();
  }

  /** The objects that name this one as their owner and may do so, except itself. */
  *dependentsOf(owner: GraphNode): Generator<GraphNode> {
    for (const uid of this.owned(owner.uid, owner.namespace)) {
      const dependent = this.nodes.get(uid);
      if (dependent !== undefined && uid !== owner.uid && mayOwn(owner, dependent)) yield dependent;
    }
  }

  hasDependents(uid: string): boolean {
    const [first] = this.owned(uid, this.nodes.get(uid)?.namespace ?? '');
    return first !== undefined;
  }

  /** The uids of objects that name this one as their owner, wherever they are, except crowded ones in other namespaces. */
  private *owned(uid: string, namespace: string): Generator<string> {
    yield* this.dependents.get(uid) ?? nobody;
    if (this.crowded.size === 0) return;
    const sets = namespace === '' ? this.crowded.values() : [this.crowded.get(namespace) ?? nobody];
    for (const set of sets) {
      for (const one of set) {
        const node = this.nodes.get(one);
        if (node?.crowd?.mayHave(uid) === true && node.owners.some((owner) => owner.uid === uid)) yield one;
      }
    }
  }

  /** Whether nothing has to be done about the object, as far as the graph knows. */
  isSettled(node: GraphNode): boolean {
    if (node.isDeleting) return !isWaiting(node) && !isOrphaning(node);
    return node.owners.every((reference) => {
      const owner = this.nodes.get(reference.uid);
      return owner !== undefined && isMeant(reference, owner, node) && !isWaiting(owner);
    });
  }

  set(node: GraphNode): void {
    const { uid } = node;
    const old = this.nodes.get(uid);
    this.nodes.set(uid, node);
    this.link(node, old);
    if (!this.isSettled(node)) this.touch(uid);
    // Dependents may have looked for an owner with this uid elsewhere before this object was known.
    const isNews = old === undefined || (isWaiting(node) && !isWaiting(old));
    if (isNews) this.touchDependents(node);
    if (old !== undefined) this.touchWaitingOwners(old);
  }

  /** Removes the node of an object that is gone for good. */
  remove(uid: string): void {
    const node = this.nodes.get(uid);
    if (node === undefined) return;
    this.drop(uid);
    const dependents = [...this.owned(uid, node.namespace)];
    if (dependents.length > 0) {
      this.absent.add(node.resource, node.namespace, node.name, uid);
      for (const dependent of dependents) this.touch(dependent);
    }
    this.touchWaitingOwners(node);
  }

  /** Forgets an object whose fate is unknown. */
  drop(uid: string): void {
    const node = this.nodes.get(uid);
    if (node === undefined) return;
    this.nodes.delete(uid);
    this.unlinkAll(node);
  }

  private unlinkAll(node: GraphNode): void {
    if (node.crowd === undefined) {
      for (const owner of node.owners) this.unlink(owner.uid, node.uid);
      return;
    }
    const set = this.crowded.get(node.namespace);
    set?.delete(node.uid);
    if (set?.size === 0) this.crowded.delete(node.namespace);
  }

  private link(node: GraphNode, old: GraphNode | undefined): void {
    if (old?.crowd !== undefined || node.crowd !== undefined) {
      if (old !== undefined) this.unlinkAll(old);
      if (node.crowd !== undefined) {
        const set = this.crowded.get(node.namespace);
        if (set === undefined) this.crowded.set(node.namespace, new Set([node.uid]));
        else set.add(node.uid);
        return;
      }
    } else if (old !== undefined && old.owners.length > 0) {
      const kept = new Set(node.owners.map(({ uid }) => uid));
      for (const { uid } of old.owners) if (!kept.has(uid)) this.unlink(uid, node.uid);
    }
    for (const { uid } of node.owners) {
      const set = this.dependents.get(uid);
      if (set === undefined) this.dependents.set(uid, new Set([node.uid]));
      else set.add(node.uid);
    }
  }

  private unlink(owner: string, dependent: string): void {
    const set = this.dependents.get(owner);
    if (set?.delete(dependent) === true && set.size === 0) this.dependents.delete(owner);
  }

  private touchDependents({ uid, namespace }: GraphNode): void {
    for (const dependent of this.owned(uid, namespace)) {
      const node = this.nodes.get(dependent);
      if (node !== undefined && !this.isSettled(node)) this.touch(dependent);
    }
  }

  private touchWaitingOwners({ owners }: GraphNode): void {
    for (const { uid } of owners) {
      const owner = this.nodes.get(uid);
      if (owner !== undefined && isWaiting(owner)) this.touch(uid);
    }
  }
}
