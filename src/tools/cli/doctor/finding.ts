/**
 * `error`: the present state does not work. `warning`: it works, but will cause trouble some day. `skipped`: there was
 * nothing to check.
 */
export type Verdict = 'ok' | 'warning' | 'error' | 'skipped';

/** The result of one check. */
export interface Finding {
  /** What was checked, always in the same words: `database version`. */
  readonly check: string;
  readonly verdict: Verdict;
  readonly text: string;
  /** What to do; only for warnings and errors. */
  readonly remedy?: string;
}

export const ok = (check: string, text: string): Finding => ({ check, verdict: 'ok', text });
export const skipped = (check: string, text: string): Finding => ({ check, verdict: 'skipped', text });
export const warning = (check: string, text: string, remedy: string): Finding => ({
  check,
  verdict: 'warning',
  text,
  remedy,
});
export const error = (check: string, text: string, remedy: string): Finding => ({
  check,
  verdict: 'error',
  text,
  remedy,
});

/** A line for each finding, the remedy at its end. */
export function findingLines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.map(({ check, verdict, text, remedy }) => {
    const end = remedy === undefined ? '' : ` -> ${remedy}`;
    return `${verdict.padEnd(7)}  ${check.padEnd(width)}  ${text}${end}`.replaceAll(/\s*\n\s*/g, ' ');
  });
}

/** A number of bytes for people, such as `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 2 ** (10 * power);
  return `${value >= 10 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
