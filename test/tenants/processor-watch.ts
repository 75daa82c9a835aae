import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of a second in /proc, on every common Linux. */
const ticksPerSecond = 100;

interface Entry {
  readonly parent: number;
  readonly seconds: number;
}

/** Processor seconds that each group of processes has used, by the name of the group. */
export type ProcessorTimes = ReadonlyMap<string, number>;

/**
 * Reads the processor time of all processes that this one has started, directly or not. The table then shows whether
 * servers were busy, or whether attackers on the same machine took the processors.
 */
export class ProcessorWatch {
  /** @param groups the group of each known process id; unknown processes belong to the database server */
  constructor(private readonly groups: () => ReadonlyMap<number, string>) {}

  take(): ProcessorTimes {
    const entries = readEntries();
    const groups = this.groups();
    const times = new Map<string, number>();
    for (const [pid, { seconds }] of entries) {
      const group = groupOf(pid, entries, groups);
      if (group !== undefined) times.set(group, (times.get(group) ?? 0) + seconds);
    }
    return times;
  }
}

/** How busy each group was between two readings, in percent of one processor. */
export function shownShares(before: ProcessorTimes, after: ProcessorTimes, seconds: number): string {
  const percent = (name: string) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) * (100 / seconds);
  const names = [...after.keys()].sort((a, b) => percent(b) - percent(a));
  return `${names.map((name) => `${name} ${Math.max(0, percent(name)).toFixed(0)}`).join(', ')} % of a processor`;
}

function groupOf(
  pid: number,
  entries: ReadonlyMap<number, Entry>,
  groups: ReadonlyMap<number, string>,
): string | undefined {
  if (pid === process.pid) return 'honest tenants';
  let isOurs = false;
  for (let one = pid; one > 1 && !isOurs; one = entries.get(one)?.parent ?? 0) {
    const known = groups.get(one);
    if (known !== undefined) return known;
    isOurs = one === process.pid;
  }
  return isOurs ? 'database' : undefined;
}

function readEntries(): Map<number, Entry> {
  const entries = new Map<number, Entry>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // Fields follow the name of the program, which is in brackets and may contain spaces.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
      // A server for the database ends processes all the time: their time is counted in that of their parent.
      const ended = Number(name) === process.pid ? 0 : (endedUser ?? 0) + (endedSystem ?? 0);
      const ticks = (user ?? 0) + (system ?? 0) + ended;
      entries.set(Number(name), { parent: Number(fields[1]), seconds: ticks / ticksPerSecond });
    } catch {
      // The process has ended meanwhile.
    }
  }
  return entries;
}
