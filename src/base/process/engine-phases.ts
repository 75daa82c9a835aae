import { setFlagsFromString } from 'node:v8';

/*
 * Flags of the engine that make starts and first requests cheaper. They are part of what compiled code is for, so the
 * defaults are back when code is kept.
 */

/** Values of flags, by name. */
type Flags = Readonly<Record<string, number>>;

const defaults: Flags = {
  'semi-space-growth-factor': 2,
  'invocation-count-for-maglev': 400,
  'minimum-invocations-after-ic-update': 500,
};

/**
 * The space for young objects does not grow. It would reach its full size, although little of what it has room for is used
 * afterwards, and an idle process gets rid of it only ten seconds later.
 */
const starting: Flags = { 'semi-space-growth-factor': 1 };
/** A command that takes more processor time than this does more than start, in milliseconds. */
const startMs = 2_000;

/**
 * The second compiler takes on what was called a quarter as often as usual: what requests call is the same from the first
 * one on. And the space for young objects grows in one step.
 */
const warmingUp: Flags = {
  'semi-space-growth-factor': 16,
  'invocation-count-for-maglev': 100,
  'minimum-invocations-after-ic-update': 100,
};
/** A server is warm after so much processor time, in milliseconds. */
const warmMs = 20_000;

const lookMs = 1_000;
let look: NodeJS.Timeout | undefined;

/** Sets the flags for the start of a process. */
export function beginStart(): void {
  set(starting);
}

/** Lets the start be over when the process turns out to do more than that: after so much more processor time. */
export function limitStart(ms = startMs): void {
  resetAfter(ms);
}

/** Sets the flags for the first requests, until the process is warm. */
export function beginServing(): void {
  set(warmingUp);
  resetAfter(warmMs);
}

/** Sets all flags back to their defaults. */
export function resetEngine(): void {
  clearInterval(look);
  set(defaults);
}

function set(flags: Flags): void {
  for (const [name, value] of Object.entries(flags)) setFlagsFromString(`--${name}=${value}`);
}

function resetAfter(ms: number): void {
  const end = usedMs() + ms;
  clearInterval(look);
  look = setInterval(() => {
    if (usedMs() >= end) resetEngine();
  }, lookMs);
  look.unref();
}

/** Processor time that this process has used, all threads together. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
