/**
 * Processor time of this thread since its start, in milliseconds. Tests that bound work use it instead of a clock, since
 * other work on the machine does not count.
 */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Time of one round of `work`, in milliseconds, on an idle machine like the one on which the bounds of tests were
 * measured.
 */
const idleMs = 4;
const rounds = 5;
const text = JSON.stringify(Array.from({ length: 3000 }, (_, i) => ({ name: `n${i}`, labels: { a: `${i}`, b: 'c' } })));

function work(): number {
  const parsed = JSON.parse(text) as readonly { readonly name: string; readonly labels: object }[];
  const names = new Map(parsed.map((item) => [item.name, JSON.stringify(item.labels)]));
  return [...names.keys()].filter((name) => /^n\d*7$/.test(name)).length;
}

/**
 * How many times slower this processor is now than the idle one on which the bounds were measured, at least 1: a slower
 * machine, or a core that shares its caches and units with other work, needs more processor time for the same work.
 */
export function machinePace(): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < rounds; i++) {
    const start = processorMs();
    work();
    best = Math.min(best, processorMs() - start);
  }
  return Math.max(1, best / idleMs);
}
