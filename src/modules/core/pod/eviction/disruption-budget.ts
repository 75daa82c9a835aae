import { forbiddenError, type StatusCause, StatusError } from '../../../../base/machinery/status-error.js';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../../objects/apis/policy/v1/pod-disruption-budget.types.js';

/** The most evictions that the budget's controller has yet to count. */
const maxDisruptedPods = 2000;
/** How soon a budget that changes has settled, in seconds. */
const settlingSeconds = 10;

/** A 429 that names the budget that prevents the eviction. */
function budgetError(name: string, detail: string, retry: { readonly retryAfterSeconds?: number } = {}): StatusError {
  const causes: StatusCause[] = [{ reason: 'DisruptionBudget', message: `The disruption budget ${name} ${detail}` }];
  return new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: { causes, ...retry },
  });
}

/** A 429 for a budget whose status can't be trusted, because the budget or the pod is changing. */
export function unsettledBudgetError(name: string): StatusError {
  return budgetError(name, 'is still being processed by the server.', { retryAfterSeconds: settlingSeconds });
}

/** A status holds for its own generation alone (specification 2.6), also where a restored object has a smaller one. */
function isCurrent({ metadata, status }: Pick<PodDisruptionBudget, 'metadata' | 'status'>): boolean {
  return Number(status.observedGeneration ?? 0) === Number(metadata.generation ?? 0);
}

/**
 * Whether a pod that is not ready, and so does not count as healthy, may be evicted without a disruption: when enough
 * others are healthy, or the budget always allows it.
 */
export function mayGoUnready({ metadata, spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  return isCurrent({ metadata, status }) && status.desiredHealthy > 0 && status.currentHealthy >= status.desiredHealthy;
}

/**
 * A copy of the status of a budget after one more disruption, that of the pod with this name (specification 2.6).
 *
 * @param now the current time as objects show it
 * @throws StatusError when the budget does not allow it: 429, or 403 when its controller has lost track
 */
export function withDisruption(
  { metadata, status }: PodDisruptionBudget,
  podName: string,
  now: string,
): PodDisruptionBudgetStatus {
  const name = metadata.name ?? '';
  const subject = { group: 'policy', resource: 'poddisruptionbudget' };
  if (!isCurrent({ metadata, status })) throw unsettledBudgetError(name);
  if (status.disruptionsAllowed < 0) throw forbiddenError(subject, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > maxDisruptedPods) {
    const detail = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbiddenError(subject, name, detail);
  }
  if (status.disruptionsAllowed === 0) {
    // Without a Retry-After: client libraries would retry by themselves up to ten times, and meanwhile `kubectl drain`
    // would neither show the reason nor observe its own timeout.
    const { desiredHealthy, currentHealthy } = status;
    throw budgetError(name, `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`);
  }
  const next = {
    ...status,
    disruptionsAllowed: status.disruptionsAllowed - 1,
    disruptedPods: { ...status.disruptedPods, [podName]: now },
  };
  return next.disruptionsAllowed === 0 ? withoutDisruptions(next, now) : next;
}

/** Records in the conditions that no further disruption is allowed. */
function withoutDisruptions(status: PodDisruptionBudgetStatus, now: string): PodDisruptionBudgetStatus {
  const conditions = [...(status.conditions ?? [])];
  const type = 'DisruptionAllowed';
  const i = conditions.findIndex((condition) => condition.type === type);
  const before = conditions[i];
  const condition = {
    type,
    status: 'False' as const,
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  if (i < 0) conditions.push(condition);
  else conditions[i] = condition;
  return { ...status, conditions };
}
