import { compareVersionPriority } from '../../base/machinery/version-priority.js';
import type { ApiPriority } from './local-priorities.js';

/** A group with its versions, the preferred one first. */
export interface OrderedGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/**
 * Sorts groups for discovery: by the highest priority among their versions, then by name; versions by priority, then
 * the more stable and newer first. When several groups have a resource of the same name, clients take the first, so a
 * custom `deployments` must not come before the built-in one.
 */
export function orderGroups(
  groups: ReadonlyMap<string, Iterable<string>>,
  priorityOf: (group: string, version: string) => ApiPriority,
): OrderedGroup[] {
  const ranked = [...groups].map(([group, versions]) => {
    const entries = [...versions].map((version) => ({ version, priority: priorityOf(group, version) }));
    entries.sort((a, b) => b.priority.version - a.priority.version || compareVersionPriority(a.version, b.version));
    return { group, entries, rank: Math.max(...entries.map(({ priority }) => priority.group)) };
  });
  ranked.sort((a, b) => b.rank - a.rank || (a.group < b.group ? -1 : 1));
  return ranked.map(({ group, entries }) => ({ group, versions: entries.map(({ version }) => version) }));
}
