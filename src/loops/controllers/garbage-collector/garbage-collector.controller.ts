import type { ApiObject, ObjectMeta, OwnerReference } from '../../../base/machinery/api-object.js';
import { eachInSteps, inTurns } from '../../../base/machinery/turns.js';
import { storageOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceClient } from '../frame/loop-client.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { allOf } from '../frame/slow-start.js';
import type { WorkOutcome } from '../work-queue.js';
import { GraphMonitors } from './graph-monitors.js';
import {
  foregroundFinalizer,
  type GraphNode,
  isOrphaning,
  isWaiting,
  mayOwn,
  ObjectGraph,
  orphanFinalizer,
} from './object-graph.js';
import { OwnerFinder, type OwnerState, type RemoteOwners } from './owner-finder.js';

export interface GarbageCollectorDependencies extends ReconcileDependencies {
  /** Looks up owners on extension servers; without it, dependents of objects there are kept forever. */
  readonly remoteOwners?: RemoteOwners | undefined;
}

/**
 * How often owners of unknown kinds, and those on extension servers, are looked up again. New kinds are noticed at
 * once.
 */
const lookAgainMs = 60_000;

/** How many owners of one object are looked up concurrently. */
const ownersAtOnce = 50;

/**
 * Deletes objects whose owners are all gone, and does the work that finalizers of deleted owners request (specification
 * 3): `foregroundDeletion` waits until the dependents that block it are gone, `orphan` removes the owner from the
 * references of its dependents. Keys are uids.
 */
export class GarbageCollector extends ReconcileLoop {
  readonly name = 'generic-garbage-collector';
  protected override readonly workers = 20;
  private graph = new ObjectGraph(() => undefined);
  private monitors: GraphMonitors | undefined;
  private finder: OwnerFinder | undefined;
  private readonly unknown = new Set<string>();

  constructor(protected override readonly dependencies: GarbageCollectorDependencies) {
    super(dependencies);
  }

  protected override partyOf(uid: string): string {
    return this.graph.get(uid)?.namespace ?? '';
  }

  protected override get component(): string {
    return 'garbage-collector-controller';
  }

  protected sources(): readonly Source[] {
    const { storage, registry, logger, remoteOwners, loopMetrics } = this.dependencies;
    let add: (uid: string) => void = () => undefined;
    const graph = new ObjectGraph((uid) => add(uid));
    const lost = (error: unknown) => {
      loopMetrics?.unfollowedResources.inc();
      logger.warn('the garbage collector lost its place in the change log', { error });
    };
    const lookAgain = () => {
      for (const uid of this.unknown) add(uid);
    };
    const monitors = new GraphMonitors(storage, registry, graph, lost, lookAgain);
    this.unknown.clear();
    this.graph = graph;
    this.monitors = monitors;
    this.finder = new OwnerFinder(storage, registry, graph, remoteOwners);
    const feed = (queue: (uid: string) => void) => {
      add = queue;
      const look = (node: GraphNode) => {
        if (!graph.isSettled(node)) queue(node.uid);
      };
      return inTurns(eachInSteps(graph.all(), look));
    };
    return [{ informer: monitors, feed }];
  }

  protected async reconcile(uid: string, work: ReconcileContext): Promise<WorkOutcome> {
    const seen = this.graph.get(uid);
    this.unknown.delete(uid);
    if (seen === undefined) return 'done';
    // Earlier writes, such as those of its owners, may not have reached the graph yet.
    await this.monitors?.reached(BigInt(seen.resourceVersion));
    const node = this.graph.get(uid);
    if (node === undefined || work.signal.aborted) return 'done';
    const client = this.clientOf(node);
    // The kind has just been removed, with its objects.
    if (client === undefined) return 'done';
    if (isOrphaning(node)) return this.release(node, client, work);
    if (isWaiting(node)) return this.endWait(node, client, work);
    return node.isDeleting ? 'done' : this.collect(node, client, work);
  }

  /** Deletes the object if nothing owns it any more, or if its owner waits for its deletion. */
  private async collect(
    node: GraphNode,
    client: ResourceClient<ApiObject>,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    const states = await this.statesOf(node, work.signal);
    if (states.includes('unknown')) {
      this.unknown.add(node.uid);
      return lookAgainMs;
    }
    if (states.length === 0 || states.includes('misplaced')) return 'done';
    if (states.includes('solid')) {
      const useless = node.owners.filter((_owner, i) => states[i] !== 'solid');
      // Another reference may have the same uid and name the right object.
      const byUid = Map.groupBy(useless, ({ uid }) => uid);
      const isUseless = (owner: OwnerReference) => byUid.get(owner.uid)?.some((one) => isSame(one, owner)) === true;
      if (useless.length > 0) await client.update(work, objectOf(node), (live) => withoutOwners(live, isUseless));
      // Nothing reports the deletion of an owner on another server.
      const isFollowed = ({ uid }: OwnerReference, i: number) =>
        states[i] !== 'solid' || this.graph.get(uid) !== undefined;
      return node.owners.every(isFollowed) ? 'done' : lookAgainMs;
    }
    let current = objectOf(node);
    let policy = policyOf(node);
    if (states.includes('waiting')) {
      const dependents = [...this.graph.dependentsOf(node)];
      // Owners that own each other would wait for each other.
      if (dependents.some(isWaiting) && node.owners.some(blocks)) {
        const unblocked = await client.update(work, current, withoutBlocks);
        if (unblocked === undefined) return 'later';
        current = unblocked;
      }
      if (dependents.length > 0) policy = 'Foreground';
    }
    const { resourceVersion = '' } = current.metadata;
    await client.delete(work, current, { propagationPolicy: policy, garbageCollector: true, resourceVersion });
    this.dependencies.logger.debug('an object without owners was deleted', describe(node));
    return 'done';
  }

  private async statesOf(node: GraphNode, signal: AbortSignal): Promise<OwnerState[]> {
    const states: OwnerState[] = [];
    const { owners } = node;
    // Owners that have to be read are read together.
    for (let i = 0; i < owners.length; i += ownersAtOnce) {
      const some = owners.slice(i, i + ownersAtOnce);
      const found = await Promise.all(
        some.map(async (one) => (await this.finder?.find(one, node, signal)) ?? 'unknown'),
      );
      // Nothing is decided while an owner is unknown: the others need not be looked up.
      if (found.includes('unknown')) return ['unknown'];
      states.push(...found);
      for (const reference of some) {
        const elsewhere = this.graph.get(reference.uid);
        if (elsewhere !== undefined && !mayOwn(elsewhere, node)) this.reportNamespace(node, reference);
      }
    }
    return states;
  }

  private reportNamespace(node: GraphNode, { apiVersion, kind, name, uid }: OwnerReference): void {
    const { namespace } = node;
    const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`;
    this.events.warning(objectOf(node), 'OwnerRefInvalidNamespace', message);
  }

  /** Releases an owner once no dependent blocks it. The dependents are deleted by work of their own. */
  private async endWait(
    node: GraphNode,
    client: ResourceClient<ApiObject>,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    for (const { owners } of this.graph.dependentsOf(node)) {
      if (owners.some((owner) => owner.uid === node.uid && blocks(owner))) return 'done';
    }
    await client.update(work, objectOf(node), (live) => withoutFinalizer(live, foregroundFinalizer));
    return 'done';
  }

  /** Removes an owner from the references of its dependents, and releases it when none is left. */
  private async release(
    node: GraphNode,
    client: ResourceClient<ApiObject>,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    const dependents = [...this.graph.dependentsOf(node)];
    const isOwner = ({ uid }: OwnerReference) => uid === node.uid;
    // A dependent that cannot be changed does not keep the others from being released.
    const { error } = await allOf(dependents, async (one) => {
      await this.clientOf(one)?.update(work, objectOf(one), (live) => withoutOwners(live, isOwner));
    });
    if (error !== undefined) throw error;
    // Another check, when the graph shows the writes, finds dependents added meanwhile.
    if (dependents.length > 0) return work.written > 0n ? 0 : 'later';
    await client.update(work, objectOf(node), (live) => withoutFinalizer(live, orphanFinalizer));
    return 'done';
  }

  /** undefined when the kind is not registered any more. */
  private clientOf({ resource }: GraphNode): ResourceClient<ApiObject> | undefined {
    const { registry, client } = this.dependencies;
    const stored = registry.findStored(resource.storageResource);
    if (stored === undefined) return undefined;
    const { group, resource: plural } = storageOf(stored.definition);
    return client.of({ group, resource: plural });
  }
}

/** The fields of the object that the client needs for a write. */
function objectOf({ resource, namespace, name, uid, resourceVersion }: GraphNode): ApiObject {
  const metadata: ObjectMeta = { name, uid, resourceVersion };
  if (namespace !== '') metadata.namespace = namespace;
  return { kind: resource.kind, apiVersion: resource.apiVersion, metadata };
}

function blocks({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion === true;
}

/** The policy of a client that requested the deletion by setting a finalizer itself. */
function policyOf({ orphans, waits }: GraphNode): 'Orphan' | 'Foreground' | 'Background' {
  if (orphans) return 'Orphan';
  return waits ? 'Foreground' : 'Background';
}

function isSame(one: OwnerReference, other: OwnerReference): boolean {
  const { apiVersion, kind, name, uid } = other;
  return one.uid === uid && one.name === name && one.kind === kind && one.apiVersion === apiVersion;
}

function withoutOwners(live: ApiObject, isUseless: (owner: OwnerReference) => boolean): ApiObject | undefined {
  const { ownerReferences = [] } = live.metadata;
  const kept = ownerReferences.filter((owner) => !isUseless(owner));
  if (kept.length === ownerReferences.length) return undefined;
  if (kept.length > 0) live.metadata.ownerReferences = kept;
  else delete live.metadata.ownerReferences;
  return live;
}

function withoutBlocks(live: ApiObject): ApiObject {
  for (const owner of live.metadata.ownerReferences ?? []) if (blocks(owner)) owner.blockOwnerDeletion = false;
  return live;
}

function withoutFinalizer(live: ApiObject, finalizer: string): ApiObject | undefined {
  const { finalizers = [] } = live.metadata;
  const kept = finalizers.filter((one) => one !== finalizer);
  if (kept.length === finalizers.length) return undefined;
  if (kept.length > 0) live.metadata.finalizers = kept;
  else delete live.metadata.finalizers;
  return live;
}

function describe({ resource, namespace, name }: GraphNode): Readonly<Record<string, string>> {
  return { resource: resource.storageResource, object: `${namespace}/${name}` };
}
