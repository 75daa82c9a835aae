/** How long the pods of a range of priorities have to end when the machine shuts down. */
export interface ShutdownGroup {
  /** The least priority of the range, which ends where that of the next group begins. */
  readonly priority: number;
  readonly graceMs: number;
}

/** The least priority of critical pods. */
export const criticalPriority = 2_000_000_000;

/** The groups of a grace period of which a part is for critical pods. */
export function twoGroups(totalMs: number, criticalMs: number): readonly ShutdownGroup[] {
  return [
    { priority: 0, graceMs: totalMs - criticalMs },
    { priority: criticalPriority, graceMs: criticalMs },
  ];
}

/**
 * Divides pods among groups, the least important first; groups without pods are left out. A pod below all groups belongs to
 * the lowest one.
 */
export function byShutdownGroup<T>(
  pods: readonly T[],
  groups: readonly ShutdownGroup[],
  priorityOf: (pod: T) => number,
): [ShutdownGroup, T[]][] {
  const ascending = groups.toSorted((one, other) => one.priority - other.priority);
  const divided = ascending.map((group): [ShutdownGroup, T[]] => [group, []]);
  for (const pod of pods) {
    const place = ascending.findLastIndex(({ priority }) => priority <= priorityOf(pod));
    divided[Math.max(place, 0)]?.[1].push(pod);
  }
  return divided.filter(([, own]) => own.length > 0);
}
