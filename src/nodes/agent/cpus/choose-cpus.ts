import type { CpuSet } from './cpu-set.js';
import type { CpuPlace, CpuTopology } from './cpu-topology.js';

type Level = 'numaNode' | 'socket' | 'core';

/**
 * Chooses processors for one container so that they are near each other and leave whole parts of the machine free: first
 * sockets and parts of the memory that are free as a whole, then whole cores, then single threads, beginning where the
 * fewest are left.
 *
 * @param available those that may be chosen
 * @returns undefined if there are not so many
 */
export function chooseCpus(topology: CpuTopology, available: CpuSet, count: number): CpuSet | undefined {
  const free = new Set(available);
  if (count > free.size) return undefined;
  const chosen: number[] = [];
  const take = (places: readonly CpuPlace[]) => {
    for (const { cpu } of places) {
      chosen.push(cpu);
      free.delete(cpu);
    }
  };
  const levels = wholeLevels(topology);
  for (const level of levels) {
    for (const places of wholeGroups(topology, free, level)) {
      if (places.length <= count - chosen.length) take(places);
    }
  }
  if (chosen.length < count) take(byLeastFree(topology, free).slice(0, count - chosen.length));
  return chosen.sort((a, b) => a - b);
}

/** The larger groups first: a memory node may span sockets, or a socket memory nodes. */
function wholeLevels(topology: CpuTopology): readonly Level[] {
  const numberOf = (level: Level) => new Set(topology.map((place) => place[level])).size;
  const larger: readonly Level[] =
    numberOf('numaNode') <= numberOf('socket') ? ['numaNode', 'socket'] : ['socket', 'numaNode'];
  // On a machine without hardware threads every processor is a core, and the last step chooses better.
  return numberOf('core') === topology.length ? larger : [...larger, 'core'];
}

/** The groups of a level whose processors are all free; cores in sockets with the fewest free processors come first. */
function wholeGroups(topology: CpuTopology, free: ReadonlySet<number>, level: Level): CpuPlace[][] {
  const groups = Map.groupBy(topology, (place) => place[level]);
  const whole = [...groups.values()].filter((places) => places.every(({ cpu }) => free.has(cpu)));
  const rank = freeIn(topology, free);
  return whole.sort(([a], [b]) => (a === undefined || b === undefined ? 0 : compareRanks(rank(a), rank(b))));
}

/** Free processors; those in sockets and cores with the fewest free ones come first. */
function byLeastFree(topology: CpuTopology, free: ReadonlySet<number>): CpuPlace[] {
  const rank = freeIn(topology, free);
  return topology.filter(({ cpu }) => free.has(cpu)).sort((a, b) => compareRanks(rank(a), rank(b)));
}

/** Numbers of free processors near a processor, the nearest last, and the processor's own number. */
function freeIn(topology: CpuTopology, free: ReadonlySet<number>): (place: CpuPlace) => readonly number[] {
  const count = (level: Level) => {
    const counts = new Map<number, number>();
    for (const place of topology)
      if (free.has(place.cpu)) counts.set(place[level], (counts.get(place[level]) ?? 0) + 1);
    return counts;
  };
  const [nodes, sockets, cores] = [count('numaNode'), count('socket'), count('core')];
  return (place) => [
    ...[sockets.get(place.socket) ?? 0, place.socket, nodes.get(place.numaNode) ?? 0, place.numaNode],
    ...[cores.get(place.core) ?? 0, place.core, place.cpu],
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
