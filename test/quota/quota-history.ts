import pg from 'pg';
import { milli } from './quota-load.js';

/** What the log shows about one namespace with quotas. */
export interface HistoryReport {
  readonly versions: number;
  /** The most that was used of each limited resource at any version, in thousandths. */
  readonly peak: ReadonlyMap<string, number>;
  /** Versions at which a limit was exceeded, or the status showed less than the real usage. */
  readonly faults: readonly string[];
}

interface LogRow {
  readonly version: string;
  readonly type: number;
  readonly resource: string;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: objects of any kind
  readonly data: any;
}

/**
 * Follows the log of a namespace version by version, adds up what its objects use by rules of its own, and compares
 * that with the limits and with the status of each quota. `from`: the version at which all quotas were in force.
 */
export async function checkHistory(
  databaseUrl: string,
  namespace: string,
  limits: ReadonlyMap<string, ReadonlyMap<string, number>>,
  from: bigint,
): Promise<HistoryReport> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const text = `select resource_version as version, type, resource, name, data from plinth.changes
      where namespace = $1 order by resource_version`;
    const { rows } = await client.query<LogRow>(text, [namespace]);
    return follow(rows, limits, from);
  } finally {
    await client.end();
  }
}

function follow(
  rows: readonly LogRow[],
  limits: ReadonlyMap<string, ReadonlyMap<string, number>>,
  from: bigint,
): HistoryReport {
  const usage = new Map<string, ReadonlyMap<string, number>>();
  const total = new Map<string, number>();
  const stated = new Map<string, Readonly<Record<string, string>>>();
  const peak = new Map<string, number>();
  const faults: string[] = [];
  const add = (amounts: ReadonlyMap<string, number> | undefined, sign: number) => {
    for (const [name, amount] of amounts ?? []) total.set(name, (total.get(name) ?? 0) + sign * amount);
  };
  for (const { version, type, resource, name, data } of rows) {
    const key = `${resource}/${name}`;
    const isGone = type === 2;
    if (resource === 'resourcequotas') stated.set(name, isGone ? {} : (data.status.used ?? {}));
    add(usage.get(key), -1);
    if (isGone) usage.delete(key);
    else usage.set(key, usageOf(resource, data));
    add(usage.get(key), 1);
    if (BigInt(version) < from) continue;
    for (const [quota, hard] of limits) {
      for (const [what, limit] of hard) {
        const now = total.get(what) ?? 0;
        peak.set(what, Math.max(peak.get(what) ?? 0, now));
        if (now > limit) faults.push(`version ${version}: ${what} is ${now} of ${limit}`);
        const said = milli(stated.get(quota)?.[what] ?? '0');
        if (said < now) faults.push(`version ${version}: ${quota} says ${what}=${said}, but ${now} is used`);
      }
    }
  }
  return { versions: rows.length, peak, faults };
}

/** Usage in thousandths, by rules that share no code with the server. */
function usageOf(resource: string, data: LogRow['data']): ReadonlyMap<string, number> {
  switch (resource) {
    case 'pods':
      // Pods are marked a moment before they are removed. From then on their time is over and they don't count.
      if (data.metadata.deletionTimestamp !== undefined) return new Map();
      return new Map([
        ['pods', 1000],
        ['requests.cpu', milli(data.spec.containers[0].resources.requests.cpu)],
      ]);
    case 'configmaps':
      return new Map([['count/configmaps', 1000]]);
    case 'services':
      return new Map([
        ['services', 1000],
        ['services.loadbalancers', data.spec.type === 'LoadBalancer' ? 1000 : 0],
      ]);
    default:
      return new Map();
  }
}
