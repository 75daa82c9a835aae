/** One named check; throws when it fails. The error is logged but never shown. */
export interface HealthCheck {
  readonly name: string;
  /** Paths the check belongs to. */
  readonly paths: readonly HealthPath[];
  /** Other names by which probes written for other servers request or exclude the check. */
  readonly aliases?: readonly string[];
  /** Further endpoints under which the check can be requested individually. */
  readonly alonePaths?: readonly HealthPath[];
  check(): Promise<void> | void;
}

export type HealthPath = 'healthz' | 'livez' | 'readyz';

/** Whether a path segment names a health endpoint. */
export function isHealthPath(text: string): text is HealthPath {
  return text === 'healthz' || text === 'livez' || text === 'readyz';
}

export interface HealthReport {
  readonly healthy: boolean;
  /** One line per check, and warnings about exclusions that match nothing. */
  readonly text: string;
  /** The outcome of each check that was not excluded. */
  readonly outcomes: readonly HealthOutcome[];
}

export interface HealthOutcome {
  readonly name: string;
  /** The error of the check; undefined when it passed. */
  readonly error?: unknown;
}

const timeoutMs = 5_000;

/** Runs the checks of a path concurrently, except the excluded ones (specification 4.10). */
export async function runChecks(
  path: HealthPath,
  checks: readonly HealthCheck[],
  excluded: readonly string[],
): Promise<HealthReport> {
  const own = checks.filter((c) => c.paths.includes(path));
  const outcomes: HealthOutcome[] = [];
  const lines = await Promise.all(
    own.map(async (check) => {
      if (excluded.some((name) => isNamed(check, name))) return `[+]${check.name} excluded: ok\n`;
      const outcome = await runCheck(check);
      outcomes.push(outcome);
      return isPassed(outcome) ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`;
    }),
  );
  const unknown = excluded.filter(
    (name) => !checks.some((c) => isNamed(c, name) && (c.paths.includes(path) || c.alonePaths?.includes(path))),
  );
  if (unknown.length > 0) {
    const list = unknown.map((n) => JSON.stringify(n)).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${list}\n`);
  }
  const healthy = outcomes.every(isPassed);
  lines.push(`${path} check ${healthy ? 'passed' : 'failed'}\n`);
  return { healthy, text: lines.join(''), outcomes };
}

/** The text that a probe receives: it lists single checks only if the probe requests that, or if one failed. */
export function shownReport({ healthy, text }: HealthReport, query: Pick<URLSearchParams, 'has'>): string {
  return healthy && !query.has('verbose') ? 'ok' : text;
}

/** Whether `name` is the check's name or one of its aliases. */
export function isNamed(check: HealthCheck, name: string): boolean {
  return check.name === name || (check.aliases?.includes(name) ?? false);
}

/** The check that a probe requests individually by its own path. */
export function findCheck(checks: readonly HealthCheck[], path: string, name: string): HealthCheck | undefined {
  const isUnder = ({ paths, alonePaths = [] }: HealthCheck) => [...paths, ...alonePaths].some((own) => own === path);
  return checks.find((check) => isNamed(check, name) && isUnder(check));
}

const underWay = new WeakMap<HealthCheck, Promise<HealthOutcome>>();

/**
 * Runs one check; it fails if it takes too long. Probes that arrive while it runs share its outcome, since the number
 * of probes is not limited.
 */
export function runCheck(check: HealthCheck): Promise<HealthOutcome> {
  const known = underWay.get(check);
  if (known !== undefined) return known;
  const outcome = runOnce(check).finally(() => underWay.delete(check));
  underWay.set(check, outcome);
  return outcome;
}

async function runOnce(check: HealthCheck): Promise<HealthOutcome> {
  try {
    await withTimeout(check.check());
    return { name: check.name };
  } catch (error) {
    return { name: check.name, error: error ?? new Error('no reason given') };
  }
}

export function isPassed({ error }: HealthOutcome): boolean {
  return error === undefined;
}

async function withTimeout(check: Promise<void> | void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the check did not finish in time')), timeoutMs);
  });
  try {
    await Promise.race([check, late]);
  } finally {
    clearTimeout(timer);
  }
}
