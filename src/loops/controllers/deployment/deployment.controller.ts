import { labelSelectorFromObject } from '../../../base/machinery/label-selector.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { conflictError, modifiedMessage } from '../../../base/machinery/status-error.js';
import { claimObjects } from '../frame/controller-refs.js';
import { byController, controllerOf, orphans, type StoredPod } from '../frame/indexes.js';
import { isPodFinished } from '../frame/pod-state.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  ownKey,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import { errorMessage, isAlreadyExists, isNamespaceTerminating } from '../frame/refusals.js';
import { type Choosers, concernedBy, ownerKey, rememberedSelectors } from '../frame/selected-objects.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  annotatedNumber,
  type DeploymentAnnotations,
  type DeploymentStatus,
  deploymentAnnotations,
  hasTemplateOf,
  revisionOf,
  type Sets,
  type StoredDeployment,
  type StoredReplicaSet,
  splitSets,
} from './deployment-annotations.js';
import {
  activeOf,
  isRolling,
  newSetReplicas,
  type Resize,
  replicasOf,
  scaledReplicas,
  shrinkOldSets,
  wantedReplicasOf,
} from './deployment-replicas.js';
import {
  countedStatus,
  isRolloutComplete,
  type ObservedDeployment,
  pauseCondition,
  progressDeadlineInMs,
  rolloutStatus,
} from './deployment-status.js';
import { newReplicaSet } from './new-replica-set.js';
import { newRevision, newSetAnnotations, sizeAnnotations } from './replica-set-annotations.js';

/** A limit of this many old revisions means no limit. */
const noLimit = 2 ** 31 - 1;

const setResource = { group: 'apps', resource: 'replicasets' };

/**
 * Keeps a replica set for the template of each deployment, and moves its pods there from the sets of earlier templates,
 * step by step: each run takes one step, and the replica sets' changes lead to the next one.
 */
export class DeploymentController extends ReconcileLoop {
  readonly name = 'deployment-controller';
  private readonly annotations: DeploymentAnnotations;
  private readonly deployments = this.informer<StoredDeployment>('apps', 'deployments');
  private readonly sets = this.informer<StoredReplicaSet>('apps', 'replicasets');
  private readonly owned = byController(this.sets);
  private readonly orphans = orphans(this.sets);
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly podsOfSets = byController(this.pods);
  private readonly selectorOf = rememberedSelectors(({ spec }: StoredDeployment) =>
    labelSelectorFromObject(spec.selector),
  );

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    this.annotations = deploymentAnnotations(dependencies.names);
  }

  protected sources(): readonly Source[] {
    const choosers: Choosers<StoredDeployment> = {
      kind: 'Deployment',
      informer: this.deployments,
      chooses: (deployment, { metadata }) => this.selectorOf(deployment).matches(metadata.labels),
    };
    return [
      source(this.deployments, ownKey),
      source(this.sets, (set, old) => concernedBy(choosers, set, old)),
      source(this.pods, (pod, old) => (pod === undefined && old !== undefined ? this.recreatedBy(old) : [])),
    ];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const deployment = this.deployments.get(namespace, name);
    if (deployment === undefined) return 'done';
    const { metadata, spec } = deployment;
    if (this.selectorOf(deployment).requirements.length === 0) return this.refuse(deployment, work);
    const claimed = await claimObjects(work, {
      owner: deployment,
      selector: this.selectorOf(deployment),
      owned: this.owned,
      orphans: this.orphans,
      client: this.setClient,
      liveOwner: () => this.ownClient.get(namespace, name),
    });
    const sets = splitSets(deployment, claimed);
    if (metadata.deletionTimestamp !== undefined) return this.writeCounts(deployment, sets, work);
    if (await this.reportPause(deployment, work)) return 'done';
    if (spec.paused === true || this.isScaled(deployment, sets)) return this.scale(deployment, sets, work);
    return isRolling(deployment) ? this.roll(deployment, sets, work) : this.recreate(deployment, sets, work);
  }

  private get ownClient() {
    return this.client<StoredDeployment>('apps', 'deployments');
  }

  private get setClient() {
    return this.client<StoredReplicaSet>('apps', 'replicasets');
  }

  /** Adopts nothing for a deployment that selects everything or has no usable selector. */
  private async refuse(deployment: StoredDeployment, work: ReconcileContext): Promise<WorkOutcome> {
    const text = 'This deployment is selecting all pods. A non-empty selector is required.';
    this.events.warning(deployment, 'SelectingAll', text);
    const { generation = 0 } = deployment.metadata;
    await this.writeStatus(deployment, work, (before) => ({ ...before, observedGeneration: generation }));
    return 'done';
  }

  /** Whether the wanted number changed since the sets were scaled. */
  private isScaled(deployment: StoredDeployment, { newSet, oldSets }: Sets): boolean {
    const wanted = wantedReplicasOf(deployment);
    return activeOf(newSet === undefined ? oldSets : [...oldSets, newSet]).some((set) => {
      const desired = annotatedNumber(set, this.annotations.desired);
      return desired !== undefined && desired !== wanted;
    });
  }

  private async scale(deployment: StoredDeployment, sets: Sets, work: ReconcileContext): Promise<WorkOutcome> {
    const newSet = sets.newSet && (await this.syncNewSet(deployment, sets.newSet, sets.oldSets, work));
    const steps = scaledReplicas(deployment, newSet, sets.oldSets, this.annotations);
    const next = await this.resize(deployment, { ...sets, newSet }, steps, work);
    if (deployment.spec.paused === true) await this.forgetOldSets(deployment, next.oldSets, work);
    return this.writeCounts(deployment, next, work);
  }

  private async roll(
    deployment: StoredDeployment,
    { newSet: found, oldSets }: Sets,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    const { newSet, created } = await this.ensureNewSet(deployment, found, oldSets, work);
    if (newSet === undefined) return 'done';
    const sets = { newSet, oldSets };
    const size = newSetReplicas(deployment, replicasOf(newSet), oldSets);
    const steps =
      size === replicasOf(newSet) ? shrinkOldSets(deployment, newSet, oldSets) : [{ set: newSet, replicas: size }];
    return this.finish(deployment, await this.resize(deployment, sets, steps, work), created, steps.length > 0, work);
  }

  private async recreate(
    deployment: StoredDeployment,
    { newSet, oldSets }: Sets,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    const synced = newSet && (await this.syncNewSet(deployment, newSet, oldSets, work));
    const shrinking = activeOf(oldSets).map((set) => ({ set, replicas: 0 }));
    if (shrinking.length > 0) {
      const sets = await this.resize(deployment, { newSet: synced, oldSets }, shrinking, work);
      return this.finish(deployment, sets, undefined, true, work);
    }
    if (oldSets.some((set) => this.hasPods(set))) {
      return this.finish(deployment, { newSet: synced, oldSets }, undefined, true, work);
    }
    const ensured = synced === undefined ? await this.ensureNewSet(deployment, undefined, oldSets, work) : undefined;
    const next = synced ?? ensured?.newSet;
    if (next === undefined) return 'done';
    const growing =
      replicasOf(next) === wantedReplicasOf(deployment) ? [] : [{ set: next, replicas: wantedReplicasOf(deployment) }];
    const sets = await this.resize(deployment, { newSet: next, oldSets }, growing, work);
    return this.finish(deployment, sets, ensured?.created, growing.length > 0, work);
  }

  private hasPods(set: StoredReplicaSet): boolean {
    if (set.status.replicas > 0) return true;
    return [...this.podsOfSets.get(set.metadata.uid ?? '')].some((pod) => !isPodFinished(pod));
  }

  /** Writes the status after a step of an update, and removes old revisions once the update is complete. */
  private async finish(
    deployment: StoredDeployment,
    sets: Sets,
    created: ObservedDeployment['created'],
    goesOn: boolean,
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    if (!goesOn && isRolloutComplete(deployment, deployment.status))
      await this.forgetOldSets(deployment, sets.oldSets, work);
    const now = this.dependencies.timers.now();
    const observed: ObservedDeployment = { deployment, ...sets, created, now };
    const status = await this.writeStatus(deployment, work, (before) => rolloutStatus(before, observed), sets.newSet);
    const wait = progressDeadlineInMs(deployment, status ?? deployment.status, now);
    return wait === undefined ? 'done' : Math.max(1, wait);
  }

  private async writeCounts(deployment: StoredDeployment, sets: Sets, work: ReconcileContext): Promise<WorkOutcome> {
    const observed = { deployment, ...sets, now: this.dependencies.timers.now() };
    await this.writeStatus(deployment, work, (before) => countedStatus(before, observed), sets.newSet);
    return 'done';
  }

  /** Brings the new set's annotations and settings up to date. */
  private async syncNewSet(
    deployment: StoredDeployment,
    set: StoredReplicaSet,
    oldSets: readonly StoredReplicaSet[],
    work: ReconcileContext,
  ): Promise<StoredReplicaSet> {
    const revision = newRevision(oldSets, this.annotations);
    const { minReadySeconds } = deployment.spec;
    const wanted = (live: StoredReplicaSet) =>
      newSetAnnotations(deployment, live.metadata.annotations ?? {}, revision, this.annotations);
    const isSynced = (live: StoredReplicaSet) =>
      deepEqual(wanted(live), live.metadata.annotations ?? {}) && live.spec.minReadySeconds === minReadySeconds;
    if (isSynced(set)) return set;
    const written = await this.setClient.update(work, set, (live) => {
      if (isSynced(live)) return undefined;
      live.metadata.annotations = { ...wanted(live) };
      if (minReadySeconds === undefined) delete live.spec.minReadySeconds;
      else live.spec.minReadySeconds = minReadySeconds;
      return live;
    });
    return written ?? set;
  }

  /** The set of the template, created if needed; undefined when its name is taken: the next run tries another name. */
  private async ensureNewSet(
    deployment: StoredDeployment,
    found: StoredReplicaSet | undefined,
    oldSets: readonly StoredReplicaSet[],
    work: ReconcileContext,
  ): Promise<{ readonly newSet?: StoredReplicaSet; readonly created?: ObservedDeployment['created'] }> {
    if (found !== undefined) return { newSet: await this.syncNewSet(deployment, found, oldSets, work) };
    const wanted = newReplicaSet(deployment, oldSets, this.annotations);
    const { name } = wanted.metadata;
    try {
      const newSet = await this.setClient.create(work, wanted);
      const size = replicasOf(newSet);
      if (size > 0) this.recordScaling(deployment, newSet, 0, size);
      return { newSet, created: { name } };
    } catch (error) {
      if (isAlreadyExists(error)) return this.takenName(deployment, name, work);
      if (!isNamespaceTerminating(error)) await this.reportFailure(deployment, oldSets, name, error, work);
      throw error;
    }
  }

  /** Another process may have made the set. If the name belongs to something else, the hash has to change. */
  private async takenName(
    deployment: StoredDeployment,
    name: string,
    work: ReconcileContext,
  ): Promise<{ readonly newSet?: StoredReplicaSet }> {
    const { namespace = '', uid } = deployment.metadata;
    const live = await this.setClient.get(namespace, name);
    if (live !== undefined && controllerOf(live)?.uid === uid && hasTemplateOf(live, deployment))
      return { newSet: live };
    const seen = deployment.status.collisionCount ?? 0;
    await this.writeStatus(deployment, work, (before) =>
      (before.collisionCount ?? 0) === seen ? { ...before, collisionCount: seen + 1 } : before,
    );
    return {};
  }

  private async reportFailure(
    deployment: StoredDeployment,
    oldSets: readonly StoredReplicaSet[],
    name: string,
    error: unknown,
    work: ReconcileContext,
  ): Promise<void> {
    const created = { name, error: errorMessage(error) };
    const text = `Failed to create new replica set "${name}": ${created.error}`;
    this.events.warning(deployment, 'ReplicaSetCreateError', text);
    const observed: ObservedDeployment = {
      deployment,
      newSet: undefined,
      oldSets,
      created,
      now: this.dependencies.timers.now(),
    };
    await this.writeStatus(deployment, work, (before) => rolloutStatus(before, observed));
  }

  /** Scales sets and records the deployment's number on them; resolves with the resulting sets. */
  private async resize(
    deployment: StoredDeployment,
    { newSet, oldSets }: Sets,
    steps: readonly Resize[],
    work: ReconcileContext,
  ): Promise<Sets> {
    const resized = new Map<StoredReplicaSet, StoredReplicaSet>();
    for (const { set, replicas } of steps) {
      resized.set(set, await this.resizeSet(deployment, set, replicas, work));
    }
    const present = (set: StoredReplicaSet) => resized.get(set) ?? set;
    return { newSet: newSet && present(newSet), oldSets: oldSets.map(present) };
  }

  private async resizeSet(
    deployment: StoredDeployment,
    set: StoredReplicaSet,
    replicas: number,
    work: ReconcileContext,
  ): Promise<StoredReplicaSet> {
    const size = replicasOf(set);
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(deployment, this.annotations) };
    if (size === replicas && deepEqual(annotations, set.metadata.annotations)) return set;
    const written = await this.setClient.update(work, set, (live) => {
      // Somebody else scaled it: the decision no longer holds.
      if (replicasOf(live) !== size) return undefined;
      live.metadata.annotations = { ...live.metadata.annotations, ...sizeAnnotations(deployment, this.annotations) };
      live.spec.replicas = replicas;
      return live;
    });
    if (written === undefined) throw conflictError(setResource, set.metadata.name ?? '', modifiedMessage);
    if (size !== replicas) this.recordScaling(deployment, set, size, replicas);
    return written;
  }

  private recordScaling(deployment: StoredDeployment, set: StoredReplicaSet, from: number, to: number): void {
    const direction = to > from ? 'up' : 'down';
    const text = `Scaled ${direction} replica set ${set.metadata.name} from ${from} to ${to}`;
    this.events.normal(deployment, 'ScalingReplicaSet', text);
  }

  /** Deletes the oldest sets without pods beyond the limit of revisions. */
  private async forgetOldSets(
    deployment: StoredDeployment,
    oldSets: readonly StoredReplicaSet[],
    work: ReconcileContext,
  ): Promise<void> {
    const limit = deployment.spec.revisionHistoryLimit ?? noLimit;
    if (limit === noLimit) return;
    const kept = oldSets
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .sort((a, b) => Number(revisionOf(a, this.annotations) - revisionOf(b, this.annotations)));
    for (const set of kept.slice(0, Math.max(0, kept.length - limit))) {
      const { metadata, status } = set;
      const isSettled = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
      if (status.replicas > 0 || replicasOf(set) > 0 || !isSettled) continue;
      await this.setClient.delete(work, set, { resourceVersion: metadata.resourceVersion ?? '' });
    }
  }

  /** Reports in the conditions that the deployment was paused or resumed; true when that was written. */
  private async reportPause(deployment: StoredDeployment, work: ReconcileContext): Promise<boolean> {
    const now = this.dependencies.timers.now();
    if (pauseCondition(deployment, deployment.status, now) === undefined) return false;
    await this.writeStatus(deployment, work, (before) => {
      const conditions = pauseCondition(deployment, before, now);
      return conditions === undefined ? before : { ...before, conditions };
    });
    return true;
  }

  /**
   * Writes the status, and the revision of the new set into the deployment's annotations, if either changes. Resolves
   * with the resulting status.
   */
  private async writeStatus(
    deployment: StoredDeployment,
    work: ReconcileContext,
    next: (before: DeploymentStatus) => DeploymentStatus,
    newSet?: StoredReplicaSet,
  ): Promise<DeploymentStatus | undefined> {
    const { revision } = this.annotations;
    const mark = newSet?.metadata.annotations?.[revision];
    const changed = (live: StoredDeployment): boolean => {
      const isMarked = mark === undefined || live.metadata.annotations?.[revision] === mark;
      return !isMarked || !deepEqual(next(live.status), live.status);
    };
    if (!changed(deployment)) return deployment.status;
    const written = await this.ownClient.updateStatus(work, deployment, (live) => {
      if (!changed(live)) return undefined;
      live.status = next(live.status);
      if (mark !== undefined) live.metadata.annotations = { ...live.metadata.annotations, [revision]: mark };
      return live;
    });
    return written?.status;
  }

  /** The key of the deployment that waits for the end of this pod's set before it makes the next one. */
  private *recreatedBy(pod: StoredPod): Iterable<string> {
    const setKey = ownerKey(pod, 'ReplicaSet');
    if (setKey === undefined) return;
    const { namespace, name } = splitKey(setKey);
    const set = this.sets.get(namespace, name);
    const key = set && ownerKey(set, 'Deployment');
    if (key === undefined) return;
    const deployment = this.deployments.get(namespace, splitKey(key).name);
    if (deployment !== undefined && !isRolling(deployment)) yield key;
  }
}
