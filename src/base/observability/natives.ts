import type { MetricFamilies } from './metric-families.js';
import type { NativeHistogram } from './native-buckets.js';
import type { SeriesValue } from './series.js';

/**
 * The families with the native histograms of those that they were made of, as plain values: copies for other processes
 * keep them.
 */
export function withNatives(families: MetricFamilies, places: readonly MetricFamilies[]): MetricFamilies {
  const natives = new Map<string, NativeHistogram>();
  for (const value of places.flatMap((place) => place.flatMap(({ values = [] }) => values))) {
    const { native } = value;
    if (native !== undefined) natives.set(keyOf(value), native);
  }
  return families.map((family) => ({
    ...family,
    values: (family.values ?? []).map((value) => {
      const native = natives.get(keyOf(value));
      return native === undefined ? value : { ...value, native };
    }),
  }));
}

function keyOf({ labels, metricName = '' }: SeriesValue): string {
  return JSON.stringify([metricName, Object.entries(labels).sort()]);
}
