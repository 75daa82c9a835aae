import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { claimObjects } from '../frame/controller-refs.js';
import {
  hashOf,
  presentRevision,
  type RevisionHistory,
  type StoredRevision,
  superfluousRevisions,
} from '../frame/controller-revisions.js';
import { byController, orphans, type StoredPod } from '../frame/indexes.js';
import { plannedPod } from '../frame/pod-from-template.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ownKey, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import { errorMessage, isNamespaceTerminating } from '../frame/refusals.js';
import { type Choosers, concernedBy, ownerKeys, rememberedSelectors } from '../frame/selected-objects.js';
import { allOf, slowStart } from '../frame/slow-start.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  hashOfPod,
  type NodeFit,
  newDaemonPod,
  nodeFits,
  revisionHashLabel,
  type StoredDaemonSet,
  type StoredNode,
} from './daemon-pods.js';
import { nextAvailableInMs, nextDaemonStatus } from './daemon-status.js';
import { FailedPods } from './failed-pods.js';
import { type DaemonState, type DaemonSteps, daemonState, placementSteps, updateSteps } from './next-steps.js';

/** The most pods that one run creates. */
const burst = 250;

/** Keeps one pod of each daemon set on every node that the set selects, and rolls new templates out. */
export class DaemonSetController extends ReconcileLoop {
  readonly name = 'daemon-set-controller';
  private readonly sets = this.informer<StoredDaemonSet>('apps', 'daemonsets');
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly revisions = this.informer<StoredRevision>('apps', 'controllerrevisions');
  private readonly ownedPods = byController(this.pods);
  private readonly orphanedPods = orphans(this.pods);
  private readonly ownedRevisions = byController(this.revisions);
  private readonly orphanedRevisions = orphans(this.revisions);
  private readonly selectorOf = rememberedSelectors(({ spec }: StoredDaemonSet) =>
    labelSelectorFromObject(spec.selector),
  );
  private readonly failed = new FailedPods();

  protected sources(): readonly Source[] {
    const choosers: Choosers<StoredDaemonSet> = {
      kind: 'DaemonSet',
      informer: this.sets,
      chooses: (set, { metadata }) => this.selectorOf(set).matches(metadata.labels),
    };
    const ofPod = (pod: StoredPod | undefined, old: StoredPod | undefined) => concernedBy(choosers, pod, old);
    const ofNode = (node: StoredNode | undefined, old: StoredNode | undefined) => {
      const isSame = node !== undefined && old !== undefined && deepEqual(shape(node), shape(old));
      return isSame ? [] : [...this.sets.all()].map(keyOf);
    };
    const ofRevision = (revision: StoredRevision | undefined, old: StoredRevision | undefined) =>
      ownerKeys(revision, old, 'DaemonSet');
    return [
      source(this.sets, ownKey),
      source(this.nodes, ofNode),
      source(this.pods, ofPod),
      source(this.revisions, ofRevision),
    ];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const set = this.sets.get(namespace, name);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return 'done';
    const { matchLabels = {}, matchExpressions = [] } = set.spec.selector ?? {};
    if (Object.keys(matchLabels).length + (matchExpressions ?? []).length === 0) {
      const text = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.events.warning(set, 'SelectingAll', text);
      return 'done';
    }
    const history = await this.historyOf(set, work);
    if (history === undefined) return 'done';
    const pods = await this.podsOf(set, work);
    const hash = hashOf(history.update, revisionHashLabel);
    const state = daemonState(set, pods, this.fitsOf(set), { hash, now: this.dependencies.timers.now() });
    const { error, waitMs } = await this.manage(state, work);
    await this.writeStatus(state, history.collisionCount, work);
    await this.forgetRevisions(state, history, pods, work);
    // In a terminating namespace there is nothing to retry: the set is deleted with the namespace.
    if (error !== undefined && !isNamespaceTerminating(error)) throw error;
    const waits = [waitMs, nextAvailableInMs(state)].filter((wait) => wait !== undefined);
    return waits.length === 0 ? 'done' : Math.min(...waits);
  }

  private fitsOf(set: StoredDaemonSet): Map<string, NodeFit> {
    const fitOf = nodeFits(set, this.dependencies.names);
    const nodes = [...this.nodes.all()].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    return new Map(nodes.map((node) => [node.metadata.name ?? '', fitOf(node)]));
  }

  private podsOf(set: StoredDaemonSet, work: ReconcileContext): Promise<StoredPod[]> {
    return claimObjects(work, {
      ...this.claiming(set),
      owned: this.ownedPods,
      orphans: this.orphanedPods,
      client: this.client<StoredPod>('', 'pods'),
    });
  }

  /** The history with the revision of the present template; undefined when it can't be made any more. */
  private async historyOf(set: StoredDaemonSet, work: ReconcileContext): Promise<RevisionHistory | undefined> {
    const client = this.client<StoredRevision>('apps', 'controllerrevisions');
    const revisions = await claimObjects(work, {
      ...this.claiming(set),
      owned: this.ownedRevisions,
      orphans: this.orphanedRevisions,
      client,
    });
    const { collisionCount = 0 } = set.status;
    try {
      return await presentRevision(work, {
        owner: set,
        revisions,
        collisionCount,
        hashLabel: revisionHashLabel,
        client,
      });
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      throw error;
    }
  }

  private claiming(set: StoredDaemonSet) {
    const { namespace = '', name = '' } = set.metadata;
    const liveOwner = () => this.client('apps', 'daemonsets').get(namespace, name);
    return { owner: set, selector: this.selectorOf(set), liveOwner };
  }

  /** Takes the next steps; resolves with the errors, and the time until a failed pod may be replaced. */
  private async manage(
    state: DaemonState,
    work: ReconcileContext,
  ): Promise<{ error?: unknown; waitMs?: number | undefined }> {
    const placement = placementSteps(state);
    const { replaced, waitMs } = this.replaceable(state, placement);
    const gone = [...placement.delete, ...replaced];
    const isSettled = placement.create.length + gone.length === 0;
    const update = isSettled ? updateSteps(state) : { create: [], delete: [] };
    const create = [...placement.create, ...update.create].slice(0, burst);
    const created = await slowStart(create.length, (i) => this.createPod(state, create[i] as string, work));
    const deleted = await allOf([...gone, ...update.delete], (pod) => this.deletePod(state.set, pod, work));
    return { error: created.error ?? deleted.error, waitMs };
  }

  /** The ended pods that may be replaced now, and the time until others may be. */
  private replaceable({ set }: DaemonState, { ended }: DaemonSteps) {
    const replaced: StoredPod[] = [];
    const waits: number[] = [];
    for (const { pod, node } of ended) {
      const { name } = pod.metadata;
      if (pod.status.phase === 'Succeeded') {
        const text = `Found succeeded daemon pod ${keyOf(pod)} on node ${node}, will try to delete it`;
        this.events.normal(set, 'SucceededDaemonPod', text);
        replaced.push(pod);
        continue;
      }
      const key = `${set.metadata.uid}/${set.metadata.generation}/${node}`;
      const answer = this.failed.mayReplace(key, this.dependencies.timers.elapsed());
      if (answer === true) {
        const text = `Found failed daemon pod ${pod.metadata.namespace}/${name} on node ${node}, will try to kill it`;
        this.events.warning(set, 'FailedDaemonPod', text);
        replaced.push(pod);
      } else waits.push(answer);
    }
    return { replaced, waitMs: waits.length === 0 ? undefined : Math.min(...waits) };
  }

  private async createPod({ set, hash }: DaemonState, node: string, work: ReconcileContext): Promise<void> {
    try {
      const client = this.client<StoredPod>('', 'pods');
      const make = () => newDaemonPod(this.dependencies.names, set, hash, node);
      const pod = await client.createFrom(work, plannedPod(set, set.spec.template), make);
      this.events.normal(set, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      if (!isNamespaceTerminating(error)) {
        this.events.warning(set, 'FailedCreate', `Error creating: ${errorMessage(error)}`);
      }
      throw error;
    }
  }

  private async deletePod(set: StoredDaemonSet, pod: StoredPod, work: ReconcileContext): Promise<void> {
    try {
      const deleted = await this.client<StoredPod>('', 'pods').delete(work, pod);
      if (deleted) this.events.normal(set, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    } catch (error) {
      this.events.warning(set, 'FailedDelete', `Error deleting: ${errorMessage(error)}`);
      throw error;
    }
  }

  private async writeStatus(state: DaemonState, collisionCount: number, work: ReconcileContext): Promise<void> {
    const { set } = state;
    if (deepEqual(nextDaemonStatus(set.status, state, collisionCount), set.status)) return;
    await this.client<StoredDaemonSet>('apps', 'daemonsets').updateStatus(work, set, (live) => {
      const status = nextDaemonStatus(live.status, state, collisionCount);
      if (deepEqual(status, live.status)) return undefined;
      return { ...live, status };
    });
  }

  /** Deletes unused revisions beyond the limit. */
  private async forgetRevisions(
    { set }: DaemonState,
    { update, revisions }: RevisionHistory,
    pods: readonly StoredPod[],
    work: ReconcileContext,
  ): Promise<void> {
    const hashes = new Set(pods.map(hashOfPod));
    const used = revisions.filter((revision) => revision === update || hashes.has(hashOf(revision, revisionHashLabel)));
    const inUse = new Set(used.map(({ metadata }) => metadata.name ?? ''));
    const client = this.client<StoredRevision>('apps', 'controllerrevisions');
    for (const revision of superfluousRevisions(revisions, inUse, set.spec.revisionHistoryLimit ?? 10)) {
      await client.delete(work, revision);
    }
  }
}

/** The properties by which daemon sets choose a node. */
function shape({ metadata, spec }: StoredNode) {
  return [metadata.labels ?? {}, spec.taints ?? []];
}
