import { formatTime } from '../../../base/machinery/clock.js';
import { selectorOf } from '../../../base/machinery/label-selector.js';
import type { ReplicaSetCondition, ReplicaSetStatus } from '../../../objects/apis/apps/v1/replica-set.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { availableInMs, isPodReady } from '../frame/pod-state.js';
import { errorMessage } from '../frame/refusals.js';
import type { Replicated } from './replicated.js';

/** The inputs of a set's status. */
export interface ObservedReplicaSet {
  /** The object as the controller saw it. */
  readonly object: Replicated;
  /** Pods that neither ended nor are being deleted. */
  readonly active: readonly StoredPod[];
  /** Pods that are being deleted; undefined: the kind does not count them. */
  readonly terminating: number | undefined;
  /** Why pods could not be created or deleted. */
  readonly failure?: { readonly missing: boolean; readonly error: unknown } | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The status of a set, derived from its former one; see {@link ObservedReplicaSet}. */
export function nextReplicaStatus(before: ReplicaSetStatus, observed: ObservedReplicaSet): ReplicaSetStatus {
  const { object, active, terminating, now } = observed;
  const { minReadySeconds = 0, template } = object.spec;
  const requirements = Object.entries(template?.metadata?.labels ?? {}).map(
    ([key, value]) => ({ key, operator: '=', values: [value] }) as const,
  );
  const whole = selectorOf(requirements);
  let labeled = 0;
  let ready = 0;
  let available = 0;
  for (const pod of active) {
    if (whole.matches(pod.metadata.labels)) labeled += 1;
    if (!isPodReady(pod)) continue;
    ready += 1;
    if (availableInMs(pod, minReadySeconds, now) === 0) available += 1;
  }
  const conditions = nextConditions(before.conditions ?? [], observed);
  const { generation } = object.metadata;
  return {
    replicas: active.length,
    ...counted('fullyLabeledReplicas', labeled),
    ...counted('readyReplicas', ready),
    ...counted('availableReplicas', available),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

/** How long until one more pod is available, in milliseconds; undefined when none will be. */
export function nextAvailableInMs({ object, active, now }: ObservedReplicaSet): number | undefined {
  const { minReadySeconds = 0 } = object.spec;
  if (minReadySeconds === 0) return undefined;
  const waits = active.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** A count in the status, left out when it is 0. */
function counted<K extends keyof ReplicaSetStatus>(field: K, count: number): { [field in K]?: number } {
  return (count === 0 ? {} : { [field]: count }) as { [field in K]?: number };
}

function nextConditions(
  before: readonly ReplicaSetCondition[],
  { failure, now }: ObservedReplicaSet,
): ReplicaSetCondition[] {
  const others = before.filter(({ type }) => type !== 'ReplicaFailure');
  if (failure === undefined) return others;
  const known = before.find(({ type }) => type === 'ReplicaFailure');
  const reason = failure.missing ? 'FailedCreate' : 'FailedDelete';
  // Messages differ in generated names: the first message stays, or the status would never settle.
  if (known?.status === 'True' && known.reason === reason) return [...before];
  return [
    ...others,
    {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: known?.status === 'True' ? known.lastTransitionTime : formatTime(now),
      reason,
      message: errorMessage(failure.error),
    },
  ];
}
