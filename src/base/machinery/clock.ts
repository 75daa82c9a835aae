/** Source of the current time, injected so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Injection token of the {@link Clock}. */
export const CLOCK = Symbol('Clock');

export const systemClock: Clock = { now: () => Date.now() };

let cachedSecond = -1;
let cachedText = '';

/** RFC 3339 in UTC with second precision, the form of all API timestamps. */
export function formatTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  // Most calls within one second return the same string.
  if (second !== cachedSecond) {
    cachedText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    cachedSecond = second;
  }
  return cachedText;
}
