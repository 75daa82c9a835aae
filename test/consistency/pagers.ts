import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse } from '../e2e/support/api-client.js';
import type { Random } from '../support/random.js';
import type { WorkedKind } from './cluster-view.js';
import { differenceOf } from './differences.js';
import { compareKeys, type ObjectKey, type Placed, type Range } from './history.js';
import { infoOf, versionOf } from './object-digest.js';
import { tiers, type Workbench } from './writers.js';

/** A part of a list at one version: everything after `after`. */
interface Part {
  readonly version: number;
  readonly after: ObjectKey | undefined;
  readonly items: Placed[];
}

/** Random lists of every form through random servers, until the signal is aborted. */
export async function page(bench: Workbench, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await bench.view.step(async () => {
      const kind = random.pick(bench.kinds);
      const range = {
        resource: kind.resource,
        namespace: random.chance(0.5) ? random.pick(bench.namespaces) : undefined,
        tier: random.chance(0.3) ? random.pick(tiers) : undefined,
      };
      await listOnce(bench, random, kind, range);
    });
    await delay(random.below(50));
  }
}

/** One list, in as many pages as its limit makes, each from any server. */
async function listOnce(bench: Workbench, random: Random, kind: WorkedKind, range: Range): Promise<void> {
  const { view } = bench;
  const limit = random.chance(0.6) ? 1 + random.below(20) : 0;
  const query = new URLSearchParams(range.tier === undefined ? {} : { labelSelector: `tier=${range.tier}` });
  if (limit > 0) query.set('limit', String(limit));
  const form = random.below(100);
  // The least version of the list, which may also be the only one.
  let least = view.observed;
  let exactly: number | undefined;
  if (form >= 60 && view.observed > 0) {
    const asked = Math.max(1, bench.history.horizon, view.observed - random.below(form < 80 ? 3 : 300));
    if (form < 70) {
      query.set('resourceVersion', '0');
      least = 0;
    } else if (form < 85) {
      query.set('resourceVersion', String(asked));
      query.set('resourceVersionMatch', 'NotOlderThan');
      least = asked;
    } else {
      query.set('resourceVersion', String(asked));
      query.set('resourceVersionMatch', 'Exact');
      least = asked;
      exactly = asked;
    }
  }
  const parts = await readPages(bench, random, { kind, range, query, limit, least, exactly });
  if (parts !== undefined) checkParts(bench, range, parts);
}

/** A list to request, and the versions that it may have. */
interface ListRequest {
  readonly kind: WorkedKind;
  readonly range: Range;
  /** Changes from page to page. */
  readonly query: URLSearchParams;
  /** 0: no limit. */
  readonly limit: number;
  readonly least: number;
  readonly exactly: number | undefined;
}

async function readPages(bench: Workbench, random: Random, request: ListRequest): Promise<Part[] | undefined> {
  const { view, report } = bench;
  const { kind, range, query } = request;
  const parts: Part[] = [];
  let last: ObjectKey | undefined;
  let failures = 0;
  for (;;) {
    const server = random.below(view.size);
    const path = `${kind.path(range.namespace)}?${query}`;
    const answer = await view.send(server, 'GET', path, [200, 410]);
    if (answer === undefined || answer.status >= 429) {
      // The token outlives the process: another one, or the same one later, continues the list.
      if (++failures > 20) return undefined;
      await delay(200);
      continue;
    }
    if (answer.status !== 200) {
      const token = answer.body?.metadata?.continue;
      report.count('lists refused because their version is gone');
      if (!query.has('continue') || token === undefined) return parts.length === 0 ? undefined : parts;
      report.count('lists that went on at another version');
      query.set('continue', token);
      parts.push({ version: -1, after: last, items: [] });
      continue;
    }
    last = takePage(bench, request, parts, answer, last, { server, path });
    const token = answer.body.metadata.continue;
    if (token === undefined || token === '') return parts;
    query.delete('resourceVersion');
    query.delete('resourceVersionMatch');
    query.set('continue', token);
  }
}

/** Adds one page and checks everything that it shows by itself; returns the last key. */
function takePage(
  bench: Workbench,
  { range, limit, least, exactly }: ListRequest,
  parts: Part[],
  answer: ApiResponse,
  last: ObjectKey | undefined,
  sent: { readonly server: number; readonly path: string },
): ObjectKey | undefined {
  const { view, report } = bench;
  const version = versionOf(answer.body);
  const items = itemsOf(range.resource, answer);
  view.saw(version);
  const evidence = { ...sent, least, exactly, range, version, items: items.length };
  const open = parts.at(-1);
  if (open === undefined) {
    if (version < least) report.fail('list-fresh', `version ${version}, not at least ${least}`, evidence);
    else if (exactly !== undefined && version !== exactly)
      report.fail('list-fresh', `version ${version}, not ${exactly}`, evidence);
    else report.pass('list-fresh');
    parts.push({ version, after: undefined, items });
  } else if (open.version === -1) {
    parts[parts.length - 1] = { ...open, version, items };
  } else {
    if (open.version !== version)
      report.fail('list-content', `page at ${version} of a list at ${open.version}`, evidence);
    open.items.push(...items);
  }
  if (limit > 0 && items.length > limit) report.fail('list-content', `${items.length} items, limit ${limit}`, evidence);
  return items.at(-1)?.key ?? last;
}

function itemsOf(resource: string, answer: ApiResponse): Placed[] {
  return answer.body.items.map((item: { metadata: { namespace: string; name: string } }) => ({
    key: { resource, namespace: item.metadata.namespace, name: item.metadata.name },
    version: versionOf(item),
    info: infoOf(item),
  }));
}

/** Compares lists with the log's states at their versions, once these are applied. */
export function checkParts(bench: Workbench, range: Range, parts: readonly Part[]): void {
  const { history, follower, report } = bench;
  const versions = parts.map(({ version }) => version).filter((version) => version >= 0);
  follower.later(Math.min(...versions, history.applied), () => {
    parts.forEach((part, index) => {
      if (part.version < 0) return;
      if (part.version < history.horizon) {
        report.count('checks given up: too far in the past');
        return;
      }
      // A part with a successor was cut off where the successor starts.
      const upTo = parts[index + 1]?.after;
      const isLast = index === parts.length - 1;
      const expected = history
        .list(range, part.version)
        .filter(({ key }) => part.after === undefined || compareKeys(key, part.after) > 0)
        .filter(({ key }) => isLast || (upTo !== undefined && compareKeys(key, upTo) <= 0));
      const problem = differenceOf(expected, part.items);
      if (problem === undefined) report.pass('list-content');
      else report.fail('list-content', problem, { range, version: part.version, after: part.after });
    });
  });
}
