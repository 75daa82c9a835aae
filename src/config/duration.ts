const unitMilliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads a duration such as `1m0s`, `7d`, `250ms` or `0` as milliseconds; undefined when the text is none. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h|d))+)$/.exec(text);
  if (match === null) return undefined;
  let total = 0;
  for (const [, amount, unit] of (match[2] ?? '').matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/g)) {
    total += Number(amount) * (unitMilliseconds[unit ?? ''] ?? Number.NaN);
  }
  return match[1] === '-' ? -total : total;
}

/** Writes milliseconds as `1h0m0s`, `1m0s`, `1.5s` or `250ms`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  const sign = milliseconds < 0 ? '-' : '';
  const rest = Math.abs(milliseconds);
  if (rest < 1000) return `${sign}${rest}ms`;
  const hours = Math.floor(rest / 3_600_000);
  const minutes = Math.floor((rest % 3_600_000) / 60_000);
  const seconds = (rest % 60_000) / 1000;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}
