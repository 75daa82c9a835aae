import { Counter, Histogram, type Registry } from 'prom-client';

const labelNames = ['policy', 'policy_binding', 'enforcement_action', 'error_type'] as const;
const buckets = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Why a policy could not decide. */
export type PolicyErrorType = 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget';

/** Counts and times checks of policies, under the metric names that operators know (specification 6.3). */
export class PolicyMetrics {
  private readonly total: Counter<(typeof labelNames)[number]>;
  private readonly seconds: Histogram<(typeof labelNames)[number]>;

  /** @param kind `validating` or `mutating` */
  constructor(kind: 'validating' | 'mutating', registry: Registry) {
    const prefix = `apiserver_${kind}_admission_policy_check`;
    this.total = new Counter({
      name: `${prefix}_total`,
      help: 'Checks of policies, by policy, binding, what came out and why the policy could not decide.',
      labelNames,
      registers: [registry],
    });
    this.seconds = new Histogram({
      name: `${prefix}_duration_seconds`,
      help: 'Time of checks of policies.',
      labelNames,
      buckets,
      registers: [registry],
    });
  }

  /** Records one check. */
  checked(policy: string, binding: string, action: string, errorType: PolicyErrorType, seconds: number): void {
    const labels = { policy, policy_binding: binding, enforcement_action: action, error_type: errorType };
    this.total.inc(labels);
    this.seconds.observe(labels, seconds);
  }
}
