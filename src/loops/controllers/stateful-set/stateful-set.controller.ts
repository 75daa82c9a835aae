import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { claimObjects } from '../frame/controller-refs.js';
import {
  presentRevision,
  type RevisionHistory,
  type StoredRevision,
  superfluousRevisions,
  templateOf,
} from '../frame/controller-revisions.js';
import { byController, orphans, type StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  keyOf,
  ownKey,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import { isNamespaceTerminating } from '../frame/refusals.js';
import { type Choosers, concernedBy, ownerKeys, rememberedSelectors } from '../frame/selected-objects.js';
import { allOf, slowStart } from '../frame/slow-start.js';
import type { WorkOutcome } from '../work-queue.js';
import { nextSteps, type SetState } from './next-steps.js';
import { StaleClaim } from './stale-claim.js';
import {
  identityLabels,
  newPod,
  ordinalOf,
  podRevisionOf,
  type StoredClaim,
  type StoredStatefulSet,
} from './stateful-pods.js';
import { nextAvailableInMs, nextStatefulStatus } from './stateful-status.js';
import { StatefulWrites } from './stateful-writes.js';

/** How soon a pod is tried again while claims of a former pod of its name still exist. */
const staleClaimMs = 1_000;

/** Keeps numbered pods with claims of their own for each stateful set, and rolls new templates out. */
export class StatefulSetController extends ReconcileLoop {
  readonly name = 'statefulset-controller';
  private readonly sets = this.informer<StoredStatefulSet>('apps', 'statefulsets');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly revisions = this.informer<StoredRevision>('apps', 'controllerrevisions');
  private readonly ownedPods = byController(this.pods);
  private readonly orphanedPods = orphans(this.pods);
  private readonly ownedRevisions = byController(this.revisions);
  private readonly orphanedRevisions = orphans(this.revisions);
  private readonly writes: StatefulWrites;
  private readonly selectorOf = rememberedSelectors(({ spec }: StoredStatefulSet) =>
    labelSelectorFromObject(spec.selector),
  );
  private readonly hashLabel: string;

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    this.hashLabel = `controller.${dependencies.names.labelPrefix}/hash`;
    const claims = this.informer<StoredClaim>('', 'persistentvolumeclaims');
    this.writes = new StatefulWrites(dependencies.client, claims, this.events);
  }

  protected sources(): readonly Source[] {
    const choosers: Choosers<StoredStatefulSet> = {
      kind: 'StatefulSet',
      informer: this.sets,
      chooses: (set, pod) =>
        ordinalOf(set, pod as StoredPod) !== undefined && this.selectorOf(set).matches(pod.metadata.labels),
    };
    const ofPod = (pod: StoredPod | undefined, old: StoredPod | undefined) => concernedBy(choosers, pod, old);
    const ofRevision = (revision: StoredRevision | undefined, old: StoredRevision | undefined) =>
      ownerKeys(revision, old, 'StatefulSet');
    return [
      source(this.sets, ownKey),
      source(this.pods, ofPod),
      source(this.revisions, ofRevision),
      source(this.writes.claims),
    ];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const set = this.sets.get(namespace, name);
    if (set === undefined) return 'done';
    const history = await this.historyOf(set, work);
    if (history === undefined) return 'done';
    const pods = await this.podsOf(set, work);
    const { metadata } = history.update;
    const updateRevision = metadata.name ?? '';
    const current = history.revisions.find((revision) => revision.metadata.name === set.status.currentRevision);
    const currentRevision = current?.metadata.name ?? updateRevision;
    const state: SetState = { set, pods, currentRevision, updateRevision, now: this.dependencies.timers.now() };
    let failure: unknown;
    if (set.metadata.deletionTimestamp === undefined) {
      failure = await this.manage(state, current ?? history.update, work);
    }
    await this.writeStatus(state, history.collisionCount, work);
    await this.forgetRevisions(state, history.revisions, work);
    if (failure instanceof StaleClaim) return staleClaimMs;
    // In a terminating namespace there is nothing to retry: the set is deleted with the namespace.
    if (failure !== undefined && !isNamespaceTerminating(failure)) throw failure;
    return nextAvailableInMs(state) ?? 'done';
  }

  private async podsOf(set: StoredStatefulSet, work: ReconcileContext): Promise<StoredPod[]> {
    const { namespace = '', name = '' } = set.metadata;
    return claimObjects(work, {
      owner: set,
      selector: this.selectorOf(set),
      owned: this.ownedPods,
      orphans: this.orphanedPods,
      client: this.client<StoredPod>('', 'pods'),
      liveOwner: () => this.client('apps', 'statefulsets').get(namespace, name),
      filter: (pod) => ordinalOf(set, pod) !== undefined,
    });
  }

  /** The history with the revision of the present template; undefined when it can't be made any more. */
  private async historyOf(set: StoredStatefulSet, work: ReconcileContext): Promise<RevisionHistory | undefined> {
    const { namespace = '', name = '' } = set.metadata;
    const client = this.client<StoredRevision>('apps', 'controllerrevisions');
    const revisions = await claimObjects(work, {
      owner: set,
      selector: this.selectorOf(set),
      owned: this.ownedRevisions,
      orphans: this.orphanedRevisions,
      client,
      liveOwner: () => this.client('apps', 'statefulsets').get(namespace, name),
    });
    const { collisionCount = 0 } = set.status;
    try {
      return await presentRevision(work, { owner: set, revisions, collisionCount, hashLabel: this.hashLabel, client });
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      throw error;
    }
  }

  /** Takes the next steps; resolves with the errors. */
  private async manage(state: SetState, current: StoredRevision, work: ReconcileContext): Promise<unknown> {
    const { set, pods, currentRevision, updateRevision } = state;
    const { names } = this.dependencies;
    const corrected = await allOf(pods, async (pod) => {
      const ordinal = ordinalOf(set, pod) ?? 0;
      await this.writes.correct(work, set, pod, identityLabels(names, pod.metadata.name ?? '', ordinal));
    });
    if (corrected.error !== undefined) return corrected.error;
    const { create, recreate, superfluous, outdated } = nextSteps(state);
    const created = await slowStart(create.length, async (i) => {
      const { ordinal, revision } = create[i] as (typeof create)[number];
      const make = () =>
        revision === 'current'
          ? newPod(names, set, templateOf(current), currentRevision, ordinal)
          : newPod(names, set, set.spec.template, updateRevision, ordinal);
      await this.writes.create(work, set, make, ordinal);
    });
    const deleted = await allOf([...recreate, ...superfluous, ...outdated], async (pod) => {
      if (recreate.includes(pod)) this.sayRecreated(set, pod);
      await this.writes.delete(work, set, pod);
    });
    return created.error ?? deleted.error;
  }

  private sayRecreated(set: StoredStatefulSet, { metadata, status }: StoredPod): void {
    const isFailed = status.phase === 'Failed';
    const text = `StatefulSet ${keyOf(set)} is recreating ${isFailed ? 'failed' : 'terminated'} Pod ${metadata.name}`;
    if (isFailed) this.events.warning(set, 'RecreatingFailedPod', text);
    else this.events.normal(set, 'RecreatingTerminatedPod', text);
  }

  private async writeStatus(state: SetState, collisionCount: number, work: ReconcileContext): Promise<void> {
    const { set } = state;
    if (deepEqual(nextStatefulStatus(set.status, state, collisionCount), set.status)) return;
    await this.client<StoredStatefulSet>('apps', 'statefulsets').updateStatus(work, set, (live) => {
      const status = nextStatefulStatus(live.status, state, collisionCount);
      if (deepEqual(status, live.status)) return undefined;
      return { ...live, status };
    });
  }

  /** Deletes unused revisions beyond the limit. */
  private async forgetRevisions(
    state: SetState,
    revisions: readonly StoredRevision[],
    work: ReconcileContext,
  ): Promise<void> {
    const { set, pods, currentRevision, updateRevision } = state;
    if (set.metadata.deletionTimestamp !== undefined) return;
    const inUse = new Set([currentRevision, updateRevision, ...pods.map(podRevisionOf)]);
    const client = this.client<StoredRevision>('apps', 'controllerrevisions');
    for (const revision of superfluousRevisions(revisions, inUse, set.spec.revisionHistoryLimit ?? 10)) {
      await client.delete(work, revision);
    }
  }
}
