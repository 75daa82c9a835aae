import { HistoryTables } from '../../sql/history-tables.js';
import type { KnownToken } from './bootstrap-tokens.js';

/** A token as JSON shows it. `ttl` is in seconds; without an end there is neither. */
export interface DescribedToken {
  readonly token: string;
  readonly description: string;
  readonly ttl?: number;
  readonly expires?: string;
  readonly usages: readonly string[];
  readonly groups: readonly string[];
}

/** @param showSecret whether to show the whole token, not its id alone */
export function describeToken(known: KnownToken, showSecret: boolean, now: number): DescribedToken {
  const { token, description, expiresAt, usages, groups } = known;
  const lasts = Number.isFinite(expiresAt);
  return {
    token: showSecret ? token.toString() : token.id,
    description,
    ...(lasts ? { ttl: Math.floor((expiresAt - now) / 1000), expires: timeText(expiresAt) } : {}),
    usages,
    groups,
  };
}

/** Tokens for people, one in a line. */
export function tokenTable(tokens: readonly KnownToken[], showSecrets: boolean, now: number): string[] {
  const rows = tokens.map((known) => {
    const { token, description, expires, usages, groups } = describeToken(known, showSecrets, now);
    const end = known.expiresAt === Number.POSITIVE_INFINITY ? '<never>' : (expires ?? '<unreadable>');
    const list = (texts: readonly string[]) => texts.join() || '<none>';
    return {
      cells: [token, restText(known.expiresAt - now), end, list(usages), description || '<none>', list(groups)],
    };
  });
  return new HistoryTables(false).table(['TOKEN', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS'], rows);
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A span in its largest unit: `23h`. */
function restText(milliseconds: number): string {
  if (milliseconds === Number.POSITIVE_INFINITY) return '<forever>';
  if (milliseconds <= 0) return '<expired>';
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const;
  const [unit, size] = units.find(([, each]) => milliseconds >= each) ?? (['s', 1000] as const);
  return `${Math.floor(milliseconds / size)}${unit}`;
}
