/** Numbers of processors in ascending order. */
export type CpuSet = readonly number[];

/** No machine has more processors than this, so a longer range is a mistake. */
const mostCpus = 8192;

/** Parses `0-3,8`, the kernel's notation. @throws Error for any other text */
export function parseCpuSet(text: string): CpuSet {
  const found = new Set<number>();
  for (const part of text.trim().split(',')) {
    if (part === '' && text.trim() === '') break;
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) < Number(first) || Number(last) >= mostCpus)
      throw new Error(`"${text}" is not a set of processors such as 0-3,8`);
    for (let cpu = Number(first); cpu <= Number(last); cpu++) found.add(cpu);
  }
  return [...found].sort((a, b) => a - b);
}

/** The kernel's notation: `0-3,8`. */
export function formatCpuSet(cpus: CpuSet): string {
  const ranges: [number, number][] = [];
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && cpu === last[1] + 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** The processors of `cpus` that are not in `others`. */
export function withoutCpus(cpus: CpuSet, others: CpuSet): CpuSet {
  const excluded = new Set(others);
  return cpus.filter((cpu) => !excluded.has(cpu));
}

/** The processors that are in either set. */
export function unionOfCpus(...sets: readonly CpuSet[]): CpuSet {
  return [...new Set(sets.flat())].sort((a, b) => a - b);
}
