import type { PodSpec } from './pod-spec.types.js';

/** Names of the containers of a pod template for a table cell. */
export function containerNames(spec: PodSpec | undefined): string {
  return (spec?.containers ?? []).map((c) => c.name).join(',');
}

/** Images of the containers of a pod template for a table cell. */
export function containerImages(spec: PodSpec | undefined): string {
  return (spec?.containers ?? []).map((c) => c.image ?? '').join(',');
}

/** A label map for a table cell: sorted `key=value` pairs, `<none>` for an empty one. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${labels?.[key]}`);
  return pairs.length === 0 ? '<none>' : pairs.join(',');
}
