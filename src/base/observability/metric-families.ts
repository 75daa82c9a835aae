import type { SeriesValue } from './series.js';

/** Metrics as plain values, which can be sent between processes. */
export type MetricFamilies = readonly {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  readonly aggregator: string;
  readonly values?: readonly SeriesValue[];
}[];
