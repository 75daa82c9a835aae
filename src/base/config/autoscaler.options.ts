import { Check } from './check.js';
import { Flag } from './flag.js';

const positive = (ms: number): string | undefined => (ms > 0 ? undefined : 'must be greater than 0');
const notNegative = (value: number): string | undefined => (value >= 0 ? undefined : 'must not be negative');
const prefix = 'horizontal-pod-autoscaler';

/** Settings of the pod autoscalers. */
export class AutoscalerOptions {
  @Flag({
    name: `${prefix}-sync-period`,
    type: 'duration',
    usage: 'How often the number of pods is compared with the number that the metrics require.',
  })
  @Check('positive', positive)
  readonly syncPeriodMs: number = 15_000;

  @Flag({
    name: `${prefix}-downscale-stabilization`,
    type: 'duration',
    usage:
      'How long all metrics must require fewer pods before pods are removed, unless the autoscaler itself sets ' +
      'another time.',
  })
  @Check('notNegative', notNegative)
  readonly downscaleStabilizationMs: number = 300_000;

  @Flag({
    name: `${prefix}-tolerance`,
    type: 'number',
    usage:
      'Relative deviation from the target up to which the number of pods stays unchanged, unless the ' +
      'autoscaler itself sets another one.',
  })
  @Check('notNegative', notNegative)
  readonly tolerance: number = 0.1;

  @Flag({
    name: `${prefix}-cpu-initialization-period`,
    type: 'duration',
    usage: 'Age until which the processor time of a pod counts only if the pod was ready while it was measured.',
  })
  @Check('notNegative', notNegative)
  readonly cpuInitializationMs: number = 300_000;

  @Flag({
    name: `${prefix}-initial-readiness-delay`,
    type: 'duration',
    usage: 'Age until which a pod may become ready for the first time.',
  })
  @Check('notNegative', notNegative)
  readonly initialReadinessMs: number = 30_000;

  @Flag({
    name: `concurrent-${prefix}-syncs`,
    type: 'int',
    unit: 'number',
    usage: 'How many autoscalers are worked on at once.',
  })
  @Check('positive', positive)
  readonly workers: number = 5;
}
