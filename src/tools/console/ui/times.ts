import { ageOf } from './rows.js';

/** How long ago a time was: `just now`, `5m ago`; `in 3m` for the future. Empty for no time. */
export function agoText(time: string, now: number): string {
  const then = Date.parse(time);
  if (Number.isNaN(then)) return '';
  if (Math.abs(now - then) < 5000) return 'just now';
  if (then > now) return `in ${ageOf(new Date(now).toISOString(), then)}`;
  return `${ageOf(time, now)} ago`;
}
