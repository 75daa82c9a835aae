import { formatTime } from '../../../base/machinery/clock.js';
import { parseTime } from '../../../base/machinery/values/time.js';
import type {
  DeploymentCondition,
  DeploymentStatus,
  StoredDeployment,
  StoredReplicaSet,
} from './deployment-annotations.js';
import { maxUnavailable, replicasOf, sumOf, wantedReplicasOf } from './deployment-replicas.js';

/** The inputs of a deployment's status. */
export interface ObservedDeployment {
  /** The deployment as the controller saw it. */
  readonly deployment: StoredDeployment;
  readonly newSet: StoredReplicaSet | undefined;
  readonly oldSets: readonly StoredReplicaSet[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The outcome for the new set: it was created now, or could not be created. */
  readonly created?: { readonly name: string; readonly error?: string } | undefined;
}

/** A deadline of this many seconds means no deadline. */
const noDeadline = 2 ** 31 - 1;

/** How many seconds an update may go without progress; undefined: no limit. */
export function deadlineOf({ spec }: StoredDeployment): number | undefined {
  const { progressDeadlineSeconds } = spec;
  return progressDeadlineSeconds === noDeadline ? undefined : progressDeadlineSeconds;
}

/** The status with its counts and the condition Available updated; the other conditions stay. */
export function countedStatus(before: DeploymentStatus, observed: ObservedDeployment): DeploymentStatus {
  const { deployment, newSet, oldSets, now } = observed;
  const all = newSet === undefined ? oldSets : [...oldSets, newSet];
  const sum = (number: (status: StoredReplicaSet['status']) => number | undefined) =>
    sumOf(all, ({ status }) => number(status) ?? 0);
  const available = sum(({ availableReplicas }) => availableReplicas);
  const counts = {
    replicas: sum(({ replicas }) => replicas),
    updatedReplicas: newSet?.status.replicas ?? 0,
    readyReplicas: sum(({ readyReplicas }) => readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumOf(all, replicasOf) - available),
  };
  // Unlike the other counts, this one is reported when it is 0. It is unknown until every set has counted its own pods.
  const terminating = all.some(isUncounted) ? undefined : sum(({ terminatingReplicas }) => terminatingReplicas);
  const isAvailable = available >= wantedReplicasOf(deployment) - maxUnavailable(deployment);
  const conditions = withCondition(
    before.conditions ?? [],
    isAvailable
      ? ['Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.']
      : ['Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'],
    now,
  );
  const { generation } = deployment.metadata;
  const { collisionCount } = before;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions,
  };
}

/** {@link countedStatus} with the progress of the update. */
export function rolloutStatus(before: DeploymentStatus, observed: ObservedDeployment): DeploymentStatus {
  const counted = countedStatus(before, observed);
  const failure = failureOf(observed);
  const conditions = without(progressed(before, counted, observed), 'ReplicaFailure');
  const known = conditionOf(before.conditions, 'ReplicaFailure');
  if (failure === undefined) return { ...counted, conditions };
  const isSame = known?.status === failure.status && known.reason === failure.reason;
  return { ...counted, conditions: [...conditions, isSame ? known : failure] };
}

/** Whether all pods are of the present template, and all available. */
export function isRolloutComplete(deployment: StoredDeployment, status: DeploymentStatus): boolean {
  const wanted = wantedReplicasOf(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const isSeen = observedGeneration >= (deployment.metadata.generation ?? 0);
  return isSeen && updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
}

/** How long until the update fails if nothing happens, in milliseconds; undefined: it can't fail. */
export function progressDeadlineInMs(
  deployment: StoredDeployment,
  status: DeploymentStatus,
  now: number,
): number | undefined {
  const deadline = deadlineOf(deployment);
  const condition = conditionOf(status.conditions, 'Progressing');
  if (deadline === undefined || condition === undefined) return undefined;
  const isOver = condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'ProgressDeadlineExceeded';
  if (isOver || isRolloutComplete(deployment, status)) return undefined;
  const since = condition.lastUpdateTime ?? condition.lastTransitionTime;
  return since ? parseTime(since) + deadline * 1000 - now : undefined;
}

/**
 * The condition that reports that the deployment was paused or resumed; undefined when the present one reports it
 * already, or when there is nothing to report.
 */
export function pauseCondition(
  deployment: StoredDeployment,
  { conditions = [] }: DeploymentStatus,
  now: number,
): DeploymentCondition[] | undefined {
  const known = conditionOf(conditions, 'Progressing');
  if (deadlineOf(deployment) === undefined || known?.reason === 'ProgressDeadlineExceeded') return undefined;
  const isReported = known?.reason === 'DeploymentPaused';
  const isPaused = deployment.spec.paused === true;
  if (isPaused === isReported) return undefined;
  const next: Aspect = isPaused
    ? ['Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused']
    : ['Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed'];
  return withCondition(conditions, next, now);
}

function progressed(
  before: DeploymentStatus,
  counted: DeploymentStatus,
  observed: ObservedDeployment,
): DeploymentCondition[] {
  const { deployment, newSet, now } = observed;
  let conditions = [...(counted.conditions ?? [])];
  const deadline = deadlineOf(deployment);
  if (deadline === undefined) return without(conditions, 'Progressing');
  conditions = begun(conditions, observed);
  if (observed.created?.error !== undefined) return conditions;
  const known = conditionOf(conditions, 'Progressing');
  const { replicas = 0, updatedReplicas = 0 } = counted;
  if (replicas === updatedReplicas && known?.reason === 'NewReplicaSetAvailable') return conditions;
  const subject =
    newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
  if (isRolloutComplete(deployment, counted)) {
    const message = `${subject} has successfully progressed.`;
    return withCondition(conditions, ['Progressing', 'True', 'NewReplicaSetAvailable', message], now);
  }
  if (hasProgressed(before, counted)) {
    // Progress counts from its last sign, so the time of the condition is updated.
    const message = `${subject} is progressing.`;
    const next = conditionAt(['Progressing', 'True', 'ReplicaSetUpdated', message], now);
    if (known?.status === 'True') next.lastTransitionTime = known.lastTransitionTime;
    return [...without(conditions, 'Progressing'), next];
  }
  if ((progressDeadlineInMs(deployment, { ...counted, conditions }, now) ?? 1) > 0) return conditions;
  const message = `${subject} has timed out progressing.`;
  return withCondition(conditions, ['Progressing', 'False', 'ProgressDeadlineExceeded', message], now);
}

/** Reports that the new set was made or found, or why it could not be made. */
function begun(conditions: DeploymentCondition[], { created, newSet, now }: ObservedDeployment): DeploymentCondition[] {
  if (created?.error !== undefined) {
    const message = `Failed to create new replica set "${created.name}": ${created.error}`;
    return withCondition(conditions, ['Progressing', 'False', 'ReplicaSetCreateError', message], now);
  }
  if (created !== undefined) {
    // The time of the condition is updated even if the last set was made a moment ago: the deadline starts here.
    const message = `Created new replica set "${created.name}"`;
    const rest = without(conditions, 'Progressing');
    return withCondition(rest, ['Progressing', 'True', 'NewReplicaSetCreated', message], now);
  }
  if (newSet === undefined || conditionOf(conditions, 'Progressing') !== undefined) return conditions;
  const message = `Found new replica set "${newSet.metadata.name}"`;
  return withCondition(conditions, ['Progressing', 'True', 'FoundNewReplicaSet', message], now);
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const updated = (status: DeploymentStatus) => status.updatedReplicas ?? 0;
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - updated(status);
  return (
    updated(after) > updated(before) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Why a replica set lacks pods: the new set if it does, otherwise any other set. */
function failureOf({ newSet, oldSets, now }: ObservedDeployment): DeploymentCondition | undefined {
  const sets = newSet === undefined ? oldSets : [newSet, ...oldSets];
  for (const { status } of sets) {
    const found = status.conditions?.find(({ type }) => type === 'ReplicaFailure');
    if (found === undefined) continue;
    const { reason = '', message = '', lastTransitionTime } = found;
    const condition = conditionAt(['ReplicaFailure', found.status, reason, message], now);
    return { ...condition, lastTransitionTime };
  }
  return undefined;
}

type Aspect = readonly [
  type: DeploymentCondition['type'],
  status: DeploymentCondition['status'],
  reason: string,
  message: string,
];

function conditionAt([type, status, reason, message]: Aspect, now: number): DeploymentCondition {
  const time = formatTime(now);
  return { type, status, lastUpdateTime: time, lastTransitionTime: time, reason, message };
}

/** Sets a condition, unless its status and reason are already the same. */
function withCondition(conditions: readonly DeploymentCondition[], aspect: Aspect, now: number): DeploymentCondition[] {
  const [type, status, reason] = aspect;
  const known = conditionOf(conditions, type);
  if (known?.status === status && known.reason === reason) return [...conditions];
  const next = conditionAt(aspect, now);
  if (known?.status === status) next.lastTransitionTime = known.lastTransitionTime;
  return [...without(conditions, type), next];
}

function without(conditions: readonly DeploymentCondition[], type: string): DeploymentCondition[] {
  return conditions.filter((condition) => condition.type !== type);
}

function conditionOf(
  conditions: readonly DeploymentCondition[] | undefined,
  type: string,
): DeploymentCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** A set that no loop has looked at has no pods; an older loop looked at it without counting. */
function isUncounted({ status }: StoredReplicaSet): boolean {
  return status.terminatingReplicas === undefined && (status.observedGeneration ?? 0) > 0;
}
