import { setFlagsFromString } from 'node:v8';

/*
 * Engine flags that make starts and first requests cheaper. Compiled code depends on the flags, so the defaults are
 * restored when code is cached.
 */

/** Values of flags, by name. */
type Flags = Readonly<Record<string, number>>;

const defaults: Flags = {
  'semi-space-growth-factor': 2,
  'invocation-count-for-maglev': 400,
  'minimum-invocations-after-ic-update': 500,
};

/**
 * Keeps the space for young objects from growing. It would reach its full size, although little of it is used
 * afterwards, and an idle process frees it only ten seconds later.
 */
const starting: Flags = { 'semi-space-growth-factor': 1 };
/** A command that has used more CPU time than this, in milliseconds, does more than start. */
const startMs = 2_000;

/**
 * The second compiler starts after a quarter of the usual number of calls: requests call the same functions from the
 * first one on. And the space for young objects grows in one step.
 */
const warmingUp: Flags = {
  'semi-space-growth-factor': 16,
  'invocation-count-for-maglev': 100,
  'minimum-invocations-after-ic-update': 100,
};
/** A server is warm after this much CPU time, in milliseconds. */
const warmMs = 20_000;

/**
 * Buffers and heap have one limit, which grows with both. Otherwise each 8 MiB of new buffers can cause a collection of
 * the whole heap: in a server that got four objects of 1.2 MB a second, two a second, by four threads.
 */
const commonLimit = 'external-memory-accounted-in-global-limit';

const lookMs = 1_000;
let hasCommonLimit = false;
let look: NodeJS.Timeout | undefined;

/** Sets the flags for the start of a process. */
export function beginStart(): void {
  set(starting);
}

/** Ends the start phase when the process turns out to do more than start: after this much more CPU time. */
export function limitStart(ms = startMs): void {
  resetAfter(ms);
}

/** Sets the flag for a process that reads and writes objects of others, which may be large, until it ends. */
export function beginExchange(): void {
  hasCommonLimit = true;
  setFlagsFromString(`--${commonLimit}`);
}

/** Sets the flags for the first requests, until the process is warm. */
export function beginServing(): void {
  beginExchange();
  set(warmingUp);
  resetAfter(warmMs);
}

/** Ends the phase of the process, and sets all flags to their defaults for the duration of the work. */
export function withEngineDefaults(work: () => void): void {
  endPhase();
  if (hasCommonLimit) setFlagsFromString(`--no-${commonLimit}`);
  try {
    work();
  } finally {
    if (hasCommonLimit) beginExchange();
  }
}

function endPhase(): void {
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
    if (usedMs() >= end) endPhase();
  }, lookMs);
  look.unref();
}

/** CPU time that this process has used, all threads together. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
