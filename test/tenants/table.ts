import type { ProbeName } from './honest-probes.js';
import type { Row } from './malice.js';
import { shownPeaks, type Welfare } from './verdict.js';

const columns: readonly ProbeName[] = ['get', 'lease', 'livez', 'create', 'watch'];

/** The table of a day on one control plane, or on several side by side. */
export function tableOf(days: ReadonlyMap<string, readonly Row[]>): string {
  const head = [
    'attack',
    'on',
    'answers',
    ...columns.map((name) => `${name} p50/p99 ms before → during`),
    'slowest loop',
    'as before after',
    'peak MiB (resident/heap)',
    'verdict',
  ];
  const lines = [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`];
  const names = [...new Set([...days.values()].flat().map(({ name }) => name))];
  for (const name of names) {
    for (const [plane, rows] of days) {
      const row = rows.find((one) => one.name === name);
      if (row !== undefined) lines.push(`| ${name} | ${plane} | ${cells(row).join(' | ')} |`);
    }
  }
  return lines.join('\n');
}

function cells(row: Row): string[] {
  const counts = Object.entries(row.loot.counts).map(([what, n]) => `${what}: ${n}`);
  return [
    counts.join(', '),
    ...columns.map((name) => `${latency(row.quiet, name)} → ${latency(row.during, name)}`),
    row.loops,
    row.normalAfter === undefined ? '> 60 s' : `${row.normalAfter.toFixed(0)} s`,
    shownPeaks(row.peaks),
    row.faults.length === 0
      ? row.rounds === 1
        ? 'passed'
        : `passed in ${row.rounds} rounds`
      : `FAILED: ${row.faults.map((fault) => fault.split('\n')[0]?.slice(0, 80)).join('; ')}`,
  ];
}

function latency(welfare: Welfare, name: ProbeName): string {
  const { p50, p99 } = welfare.probes.get(name) ?? { p50: Number.NaN, p99: Number.NaN };
  return `${p50.toFixed(0)}/${p99.toFixed(0)}`;
}
