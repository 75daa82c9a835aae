/** One named check; throws when it fails. What it throws is logged, never shown. */
export interface HealthCheck {
  readonly name: string;
  /** Paths the check belongs to. */
  readonly paths: readonly HealthPath[];
  check(): Promise<void> | void;
}

export type HealthPath = 'healthz' | 'livez' | 'readyz';

export interface HealthReport {
  readonly healthy: boolean;
  /** One line per check, and warnings about exclusions that fit nothing. */
  readonly text: string;
  readonly failures: readonly { readonly name: string; readonly error: unknown }[];
}

const timeoutMs = 5_000;

/** Runs the checks of a path at the same time, leaving out the excluded ones (specification 4.10). */
export async function runChecks(
  path: HealthPath,
  checks: readonly HealthCheck[],
  excluded: readonly string[],
): Promise<HealthReport> {
  const own = checks.filter((c) => c.paths.includes(path));
  const failures: { name: string; error: unknown }[] = [];
  const lines = await Promise.all(
    own.map(async (check) => {
      if (excluded.includes(check.name)) return `[+]${check.name} excluded: ok\n`;
      try {
        await withTimeout(check.check());
        return `[+]${check.name} ok\n`;
      } catch (error) {
        failures.push({ name: check.name, error });
        return `[-]${check.name} failed: reason withheld\n`;
      }
    }),
  );
  const unknown = excluded.filter((name) => !own.some((c) => c.name === name));
  if (unknown.length > 0) {
    const list = unknown.map((n) => JSON.stringify(n)).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${list}\n`);
  }
  const healthy = failures.length === 0;
  lines.push(`${path} check ${healthy ? 'passed' : 'failed'}\n`);
  return { healthy, text: lines.join(''), failures };
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
