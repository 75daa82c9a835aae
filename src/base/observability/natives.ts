import type { MetricFamilies } from './metric-families.js';
import type { NativeHistogram } from './native-buckets.js';
import type { SeriesValue } from './series.js';

/**
 * Adds to aggregated families the native histograms of the equal series in `places`, from which they were aggregated.
 * They become plain values, which copies for other processes keep.
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
