import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { claimObjects } from '../frame/controller-refs.js';
import { byController, controllerOf, orphans, type StoredPod } from '../frame/indexes.js';
import { plannedPod, podFromTemplate } from '../frame/pod-from-template.js';
import { isPodActive, isPodTerminating } from '../frame/pod-state.js';
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
import { errorMessage, isNamespaceTerminating } from '../frame/refusals.js';
import { type Choosers, concernedBy } from '../frame/selected-objects.js';
import { allOf, slowStart } from '../frame/slow-start.js';
import type { WorkOutcome } from '../work-queue.js';
import { podsToDelete } from './pods-to-delete.js';
import { nextAvailableInMs, nextReplicaStatus, type ObservedReplicaSet } from './replica-status.js';
import type { Replicated, ReplicatedKind } from './replicated.js';

/** The most pods that one run creates or deletes; the status is written between runs. */
const burst = 500;

/** Keeps the number of pods that each replica set or replication controller requests. */
export class ReplicaSetController extends ReconcileLoop {
  readonly name: string;
  private readonly sets;
  private readonly setsByController;
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly owned = byController(this.pods);
  private readonly orphans = orphans(this.pods);

  constructor(
    dependencies: ReconcileDependencies,
    private readonly kind: ReplicatedKind,
  ) {
    super(dependencies);
    this.name = kind.account;
    this.sets = this.informer<Replicated>(kind.group, kind.resource);
    this.setsByController = byController(this.sets);
  }

  protected sources(): readonly Source[] {
    const choosers: Choosers<Replicated> = {
      kind: this.kind.kind,
      informer: this.sets,
      chooses: (set, { metadata }) => this.kind.selectorOf(set).matches(metadata.labels),
    };
    const ofPod = (pod: StoredPod | undefined, old: StoredPod | undefined) => concernedBy(choosers, pod, old);
    return [source(this.sets, ownKey), source(this.pods, ofPod)];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const object = this.sets.get(namespace, name);
    if (object === undefined) return 'done';
    const { active, terminating } = await this.podsOf(object, work);
    const isDeleted = object.metadata.deletionTimestamp !== undefined;
    const failure = isDeleted ? undefined : await this.manage(object, active, work);
    const now = this.dependencies.timers.now();
    const counted = this.kind.countsTerminating ? terminating : undefined;
    const observed: ObservedReplicaSet = { object, active, terminating: counted, failure, now };
    await this.writeStatus(observed, work);
    if (failure !== undefined) return this.afterFailure(failure.error);
    return nextAvailableInMs(observed) ?? 'done';
  }

  /** Refusals are not retried at once: events and the status report them already. */
  private afterFailure(error: unknown): WorkOutcome {
    // In a terminating namespace there is nothing to retry: the object is deleted with the namespace.
    if (isNamespaceTerminating(error)) return 'done';
    if (error instanceof StatusError && error.isExpected) return 'later';
    throw error;
  }

  private async podsOf(
    object: Replicated,
    work: ReconcileContext,
  ): Promise<{ active: StoredPod[]; terminating: number }> {
    const { group, resource, selectorOf } = this.kind;
    const { namespace = '', name = '', uid = '' } = object.metadata;
    const active = await claimObjects(work, {
      owner: object,
      selector: selectorOf(object),
      owned: this.owned,
      orphans: this.orphans,
      client: this.client<StoredPod>('', 'pods'),
      liveOwner: () => this.client(group, resource).get(namespace, name),
      filter: isPodActive,
    });
    const terminating = [...this.owned.get(uid)].filter(isPodTerminating).length;
    return { active, terminating };
  }

  /** Creates or deletes pods; resolves with the errors. */
  private async manage(
    object: Replicated,
    active: readonly StoredPod[],
    work: ReconcileContext,
  ): Promise<ObservedReplicaSet['failure']> {
    const missing = (object.spec.replicas ?? 0) - active.length;
    if (missing === 0) return undefined;
    const count = Math.min(Math.abs(missing), burst);
    const { error } =
      missing > 0
        ? await slowStart(count, () => this.createPod(object, work))
        : await allOf(this.superfluous(object, active, count), (pod) => this.deletePod(object, pod, work));
    return error === undefined ? undefined : { missing: missing > 0, error };
  }

  private superfluous(object: Replicated, active: readonly StoredPod[], count: number): StoredPod[] {
    const { names, timers } = this.dependencies;
    return podsToDelete(active, count, { names, related: this.relatedPods(object), now: timers.now() });
  }

  /** Active pods of all sets with the same owner, such as the old and the new set of a deployment. */
  private *relatedPods(object: Replicated): Iterable<StoredPod> {
    const controller = controllerOf(object)?.uid;
    const sets = controller === undefined ? [object] : this.setsByController.get(controller);
    for (const { metadata } of sets) {
      for (const pod of this.owned.get(metadata.uid ?? '')) if (isPodActive(pod)) yield pod;
    }
  }

  private async createPod(object: Replicated, work: ReconcileContext): Promise<void> {
    const { template } = object.spec;
    if (template === undefined) throw new Error(`${this.kind.kind} ${keyOf(object)} has no template`);
    try {
      const client = this.client<StoredPod>('', 'pods');
      const pod = await client.createFrom(work, plannedPod(object, template), () => podFromTemplate(object, template));
      this.events.normal(object, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      if (!isNamespaceTerminating(error)) {
        this.events.warning(object, 'FailedCreate', `Error creating: ${errorMessage(error)}`);
      }
      throw error;
    }
  }

  private async deletePod(object: Replicated, pod: StoredPod, work: ReconcileContext): Promise<void> {
    try {
      const deleted = await this.client<StoredPod>('', 'pods').delete(work, pod);
      if (deleted) this.events.normal(object, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    } catch (error) {
      this.events.warning(object, 'FailedDelete', `Error deleting: ${errorMessage(error)}`);
      throw error;
    }
  }

  private async writeStatus(observed: ObservedReplicaSet, work: ReconcileContext): Promise<void> {
    const { object } = observed;
    const { group, resource } = this.kind;
    if (deepEqual(nextReplicaStatus(object.status, observed), object.status)) return;
    await this.client<Replicated>(group, resource).updateStatus(work, object, (live) => {
      const status = nextReplicaStatus(live.status, observed);
      if (deepEqual(status, live.status)) return undefined;
      live.status = status;
      return live;
    });
  }
}
