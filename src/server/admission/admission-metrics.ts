import type { Registry } from 'prom-client';
import { type LatencySeries, SeriesHistogram } from '../../base/observability/series-histogram.js';
import { type AdmissionOperation, admissionOperations } from './attributes.js';

/** The two phases, as the metrics name them. */
export type AdmissionPhase = 'admit' | 'validate';

/** The series of one plugin, or of a whole phase, by operation and by whether the request was refused. */
export type AdmissionSeries = Readonly<Record<AdmissionOperation, (rejected: boolean) => LatencySeries>>;

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];

/** Measures how long admission takes, under the metric names that operators of API servers know (specification 6.3). */
export class AdmissionMetrics {
  private readonly plugins: SeriesHistogram;
  private readonly steps: SeriesHistogram;

  constructor(readonly registry: Registry) {
    const of = (name: string, labelNames: readonly string[], help: string) =>
      new SeriesHistogram({ name, help, labelNames }, buckets, registry);
    const labels = ['operation', 'rejected', 'type'];
    this.plugins = of(
      'apiserver_admission_controller_admission_duration_seconds',
      ['name', ...labels],
      'Time of each admission plugin, by operation, phase and whether it refused.',
    );
    this.steps = of(
      'apiserver_admission_step_admission_duration_seconds',
      labels,
      'Time of each phase of admission, by operation and whether the request was refused.',
    );
  }

  ofPlugin(name: string, phase: AdmissionPhase): AdmissionSeries {
    return series((operation, rejected) => this.plugins.with({ name, operation, rejected, type: phase }));
  }

  ofPhase(phase: AdmissionPhase): AdmissionSeries {
    return series((operation, rejected) => this.steps.with({ operation, rejected, type: phase }));
  }
}

function series(make: (operation: AdmissionOperation, rejected: string) => LatencySeries): AdmissionSeries {
  const entries = admissionOperations.map((operation) => {
    const accepted = make(operation, 'false');
    const rejected = make(operation, 'true');
    return [operation, (isRejected: boolean) => (isRejected ? rejected : accepted)] as const;
  });
  return Object.fromEntries(entries) as AdmissionSeries;
}
