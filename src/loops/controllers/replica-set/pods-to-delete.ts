import { parseTime } from '../../../base/machinery/values/time.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodReady, readySince } from '../frame/pod-state.js';

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** What the choice of pods depends on besides the pods themselves. */
export interface ChoiceOptions {
  readonly names: Pick<VendorNames, 'labelPrefix'>;
  /** Pods whose number on a node shows how crowded it is: those of all sets with the same owner. */
  readonly related: Iterable<StoredPod>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The `count` pods that are the least useful: pods without a node, not running, not ready, of low `pod-deletion-cost`,
 * on crowded nodes, ready for a short time, often restarted, and young ones. Ages are compared by their order of
 * magnitude, so that pods of about the same age are chosen at random.
 */
export function podsToDelete(pods: readonly StoredPod[], count: number, options: ChoiceOptions): StoredPod[] {
  if (count >= pods.length) return [...pods];
  const crowd = new Map<string, number>();
  for (const { spec } of options.related) {
    if (spec.nodeName) crowd.set(spec.nodeName, (crowd.get(spec.nodeName) ?? 0) + 1);
  }
  const judged = pods.map((pod) => judge(pod, crowd, options));
  return judged
    .sort(compare)
    .slice(0, count)
    .map(({ pod }) => pod);
}

interface Judged {
  readonly pod: StoredPod;
  /** Compared in order of importance: the pod with the lower number is deleted first. */
  readonly ranks: readonly number[];
}

function judge(
  pod: StoredPod,
  crowd: ReadonlyMap<string, number>,
  { names, now }: Pick<ChoiceOptions, 'names' | 'now'>,
): Judged {
  const { nodeName } = pod.spec;
  const { creationTimestamp } = pod.metadata;
  const since = readySince(pod);
  const ranks = [
    nodeName ? 1 : 0,
    phaseRank[pod.status.phase ?? ''] ?? 0,
    isPodReady(pod) ? 1 : 0,
    deletionCost(pod, names),
    nodeName ? -(crowd.get(nodeName) ?? 0) : 0,
    magnitude(since, now),
    -mostRestarts(pod),
    magnitude(creationTimestamp ? parseTime(creationTimestamp) : undefined, now),
  ];
  return { pod, ranks };
}

function compare(a: Judged, b: Judged): number {
  for (const [i, rank] of a.ranks.entries()) {
    const difference = rank - (b.ranks[i] as number);
    if (difference !== 0) return difference;
  }
  return (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1;
}

/** The age as a power of two of milliseconds; without a date the pod counts as new. */
function magnitude(since: number | undefined, now: number): number {
  if (since === undefined || since >= now) return -1;
  return Math.floor(Math.log2(now - since));
}

const mostCost = 2 ** 31;

/** The cost in the pod's annotation; 0 without the annotation, or if it holds no 32-bit integer. */
function deletionCost({ metadata }: StoredPod, { labelPrefix }: ChoiceOptions['names']): number {
  const text = metadata.annotations?.[`controller.${labelPrefix}/pod-deletion-cost`];
  if (text === undefined || !/^(0|-?[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -mostCost && cost < mostCost ? cost : 0;
}

function mostRestarts({ status }: StoredPod): number {
  return Math.max(0, ...(status.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
