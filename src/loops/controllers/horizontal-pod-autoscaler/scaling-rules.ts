import type {
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';

/** A number of replicas, or a change of it, and when; in milliseconds from a fixed point. */
export interface Dated {
  readonly at: number;
  readonly replicas: number;
}

/** The recent recommendations and changes of an autoscaler. */
export interface ScalingHistory {
  readonly recommendations: readonly Dated[];
  /** By how much the target was scaled up. */
  readonly ups: readonly Dated[];
  readonly downs: readonly Dated[];
}

/** Reason and message of a condition. */
export interface Statement {
  readonly reason: string;
  readonly message: string;
}

export interface LimitedReplicas {
  readonly replicas: number;
  /** Reason and message of the condition `AbleToScale`. */
  readonly able: Statement;
  /** Reason and message of the condition `ScalingLimited`. */
  readonly limit: Statement;
  readonly isLimited: boolean;
}

const ready: Statement = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const stabilizedDown: Statement = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const stabilizedUp: Statement = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const limits = {
  tooFew: { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' },
  tooMany: { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' },
  up: {
    reason: 'ScaleUpLimit',
    message: 'the desired replica count is increasing faster than the maximum scale rate',
  },
  down: {
    reason: 'ScaleDownLimit',
    message: 'the desired replica count is decreasing faster than the maximum scale rate',
  },
  none: { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' },
} as const satisfies Record<string, Statement>;

export interface ScalingRequest {
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly current: number;
  readonly desired: number;
  readonly history: ScalingHistory;
  readonly now: number;
  /** How long an autoscaler without rules of its own waits before it scales down, in milliseconds. */
  readonly downscaleMs: number;
}

/** The replicas that an autoscaler may set now, where its metrics request `desired`. */
export function limitReplicas(request: ScalingRequest): LimitedReplicas {
  const { replicas: stable, able } = stabilize(request);
  const { replicas, limit } =
    request.spec.behavior === undefined ? limitByDefault(request, stable) : limitByRules(request, stable);
  return { replicas, able, limit, isLimited: replicas !== stable };
}

/** Scales up only as far as all recommendations within a period allow, and scales down by the same rule. */
function stabilize({ spec, current, desired, history, now, downscaleMs }: ScalingRequest) {
  const { behavior } = spec;
  const windowMs = (rules: HPAScalingRules | undefined, otherwise: number) =>
    rules?.stabilizationWindowSeconds === undefined ? otherwise : rules.stabilizationWindowSeconds * 1000;
  const upMs = behavior === undefined ? 0 : windowMs(behavior.scaleUp, 0);
  const downMs = windowMs(behavior?.scaleDown, downscaleMs);
  let lowest = desired;
  let highest = desired;
  for (const { at, replicas } of history.recommendations) {
    if (at > now - upMs) lowest = Math.min(lowest, replicas);
    if (at > now - downMs) highest = Math.max(highest, replicas);
  }
  // Without rules of its own, an autoscaler scales up at once, and never above the highest recommendation.
  const stable = behavior === undefined ? highest : Math.min(Math.max(current, lowest), highest);
  if (stable === desired) return { replicas: stable, able: ready };
  const isUp = behavior !== undefined && desired >= current;
  return { replicas: stable, able: isUp ? stabilizedUp : stabilizedDown };
}

interface Limited {
  readonly replicas: number;
  readonly limit: Statement;
}

function limitByDefault({ spec, current }: ScalingRequest, desired: number): Limited {
  const { minReplicas = 1, maxReplicas } = spec;
  const rate = Math.max(2 * current, 4);
  if (desired < minReplicas) return { replicas: minReplicas, limit: limits.tooFew };
  const most = Math.min(rate, maxReplicas);
  if (desired > most) return { replicas: most, limit: rate < maxReplicas ? limits.up : limits.tooMany };
  return { replicas: desired, limit: limits.none };
}

function limitByRules({ spec, current, history, now }: ScalingRequest, desired: number): Limited {
  const { minReplicas = 1, maxReplicas, behavior = {} } = spec;
  if (desired > current) {
    const rate = Math.max(current, rateLimit(behavior.scaleUp, current, history, now, 1));
    const most = Math.min(rate, maxReplicas);
    if (desired > most) return { replicas: most, limit: rate < maxReplicas ? limits.up : limits.tooMany };
  } else if (desired < current) {
    const rate = Math.min(current, rateLimit(behavior.scaleDown, current, history, now, -1));
    const fewest = Math.max(rate, minReplicas);
    if (desired < fewest) return { replicas: fewest, limit: rate > minReplicas ? limits.down : limits.tooFew };
  }
  return { replicas: desired, limit: limits.none };
}

/** How far the policies allow the number of replicas to change. */
function rateLimit(
  rules: HPAScalingRules | undefined,
  current: number,
  history: ScalingHistory,
  now: number,
  direction: 1 | -1,
): number {
  if (rules?.selectPolicy === 'Disabled') return current;
  const proposals = (rules?.policies ?? []).map((policy) => policyLimit(policy, current, history, now, direction));
  if (proposals.length === 0) return direction > 0 ? Number.MAX_SAFE_INTEGER : 0;
  // `Max` selects the policy that allows the greatest change in the given direction.
  const isGreatest = (rules?.selectPolicy ?? 'Max') === 'Max';
  return isGreatest === direction > 0 ? Math.max(...proposals) : Math.min(...proposals);
}

function policyLimit(
  { type, value, periodSeconds }: HPAScalingPolicy,
  current: number,
  { ups, downs }: ScalingHistory,
  now: number,
  direction: 1 | -1,
): number {
  const within = (changes: readonly Dated[]) =>
    changes.reduce((sum, { at, replicas }) => (at > now - periodSeconds * 1000 ? sum + replicas : sum), 0);
  const atStart = current - within(ups) + within(downs);
  if (type === 'Pods') return atStart + direction * value;
  const share = (atStart * (100 + direction * value)) / 100;
  return direction > 0 ? Math.ceil(share) : Math.trunc(share);
}
