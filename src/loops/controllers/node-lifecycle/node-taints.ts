import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Taint } from '../../../objects/apis/core/v1/affinity.types.js';
import { readyStatus, type StoredNode } from './node-silence.js';

type Names = Pick<VendorNames, 'labelPrefix'>;

/** The keys of the taints that stand for the state of a node. */
function taintKey(name: string, { labelPrefix }: Names): string {
  return `node.${labelPrefix}/${name}`;
}

const conditionTaints: readonly (readonly [condition: string, status: string, taint: string])[] = [
  ['Ready', 'False', 'not-ready'],
  ['Ready', 'Unknown', 'unreachable'],
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['NetworkUnavailable', 'True', 'network-unavailable'],
  ['PIDPressure', 'True', 'pid-pressure'],
];

/**
 * The taints of a node with those of effect NoSchedule that its conditions require; undefined when they are correct
 * already. A node that never reported a status counts as not ready. `time` is the present time.
 */
export function schedulingTaints(node: Readonly<StoredNode>, names: Names, time: string): Taint[] | undefined {
  const statuses = new Map(
    (node.status?.conditions ?? []).map(({ type, status }) => [type as string, status as string]),
  );
  if (!statuses.has('Ready')) statuses.set('Ready', 'False');
  const wanted = new Set<string>();
  const ours = new Set<string>([taintKey('unschedulable', names)]);
  for (const [condition, status, taint] of conditionTaints) {
    ours.add(taintKey(taint, names));
    if (statuses.get(condition) === status) wanted.add(taintKey(taint, names));
  }
  if (node.spec?.unschedulable === true) wanted.add(taintKey('unschedulable', names));
  return withTaints(node, 'NoSchedule', ours, wanted, time);
}

/** The key of the taint that evicts pods from a node in this state; undefined for a ready one. */
export function evictingKey(node: Readonly<StoredNode>, names: Names): string | undefined {
  const status = readyStatus(node);
  if (status === undefined || status === 'True') return undefined;
  return taintKey(status === 'False' ? 'not-ready' : 'unreachable', names);
}

/** Whether the node has a taint of ours that evicts pods. */
export function hasEvictingTaint({ spec }: Readonly<StoredNode>, names: Names): boolean {
  const ours = evictingKeys(names);
  return spec?.taints?.some(({ key, effect }) => effect === 'NoExecute' && ours.has(key)) === true;
}

function evictingKeys(names: Names): ReadonlySet<string> {
  return new Set([taintKey('not-ready', names), taintKey('unreachable', names)]);
}

/**
 * The taints of a node, with `key` as the only NoExecute taint of this controller, or with none; undefined when they
 * are correct already.
 */
export function evictingTaints(
  node: Readonly<StoredNode>,
  key: string | undefined,
  names: Names,
  time: string,
): Taint[] | undefined {
  return withTaints(node, 'NoExecute', evictingKeys(names), new Set(key === undefined ? [] : [key]), time);
}

/** Taints with those of `ours` and the effect replaced by the wanted ones. Present ones keep their time. */
function withTaints(
  { spec }: Readonly<StoredNode>,
  effect: 'NoSchedule' | 'NoExecute',
  ours: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
  time: string,
): Taint[] | undefined {
  const present = spec?.taints ?? [];
  const kept = present.filter((taint) => taint.effect !== effect || !ours.has(taint.key) || wanted.has(taint.key));
  const has = new Set(kept.filter((taint) => taint.effect === effect).map(({ key }) => key));
  const added = [...wanted].filter((key) => !has.has(key)).map((key) => ({ key, effect, timeAdded: time }));
  return kept.length === present.length && added.length === 0 ? undefined : [...kept, ...added];
}
