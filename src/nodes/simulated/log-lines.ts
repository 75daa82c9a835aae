import type { ContainerRun } from './container-run.js';

/** One line of a log. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

/** A part of a log, as a reader requests it. */
export interface LogPart {
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  readonly timestamps: boolean;
}

/** A run of a container, ended or still going on. */
export interface LoggedRun {
  readonly since: number;
  /** When the run ended; undefined: it still runs. */
  readonly until: number | undefined;
}

/** The most lines of a log: longer logs lose their beginning, as on real nodes. */
const mostLines = 10_000;

/** The present run of a container, or its last one. */
export function presentRun(run: ContainerRun): LoggedRun | undefined {
  if (run.runningSince !== undefined) return { since: run.runningSince, until: undefined };
  const { endedRun } = run;
  return endedRun === undefined ? previousRun(run) : { since: endedRun.since, until: endedRun.at };
}

/** The run before the present one. */
export function previousRun(run: ContainerRun): LoggedRun | undefined {
  const { lastRan } = run;
  return lastRan === undefined ? undefined : { since: lastRan.since, until: lastRan.at };
}

/**
 * The lines that the container wrote in a run until `now`: its lines at the start, and again after each interval if it
 * has one.
 */
export function linesOf(run: ContainerRun, { since, until }: LoggedRun, now: number): LogLine[] {
  const { logs, logEveryMs } = run.plan.behaviour;
  const texts = (logs ?? `This is the simulated container ${run.plan.name} of the image ${run.plan.image}.`)
    .replace(/\n$/, '')
    .split('\n');
  const end = Math.min(until ?? now, now);
  if (end < since) return [];
  const times = logEveryMs === undefined ? 0 : Math.floor((end - since) / logEveryMs);
  const first = Math.max(0, times + 1 - Math.ceil(mostLines / texts.length));
  const lines: LogLine[] = [];
  for (let time = first; time <= times; time++) {
    for (const text of texts) lines.push({ at: since + time * (logEveryMs ?? 0), text });
  }
  return lines;
}

/** When a running container writes next; undefined: never again. */
export function nextLineAt(run: ContainerRun, { since, until }: LoggedRun, now: number): number | undefined {
  const { logEveryMs } = run.plan.behaviour;
  if (until !== undefined || logEveryMs === undefined) return undefined;
  return since + (Math.floor((now - since) / logEveryMs) + 1) * logEveryMs;
}

/** The lines that the reader requested. */
export function partOfLines(lines: readonly LogLine[], { tailLines, since }: LogPart): readonly LogLine[] {
  const young = since === undefined ? lines : lines.filter(({ at }) => at >= since);
  if (tailLines === undefined) return young;
  return tailLines === 0 ? [] : young.slice(-tailLines);
}

/** Lines as the API sends them. */
export function formatLines(lines: readonly LogLine[], { timestamps }: LogPart): string {
  const stamp = (at: number) => (timestamps ? `${new Date(at).toISOString().replace('Z', '000000Z')} ` : '');
  return lines.map(({ at, text }) => `${stamp(at)}${text}\n`).join('');
}
