import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Api } from './api.js';
import { ApiFault } from './api-fault.js';
import { waitInBrowser } from './follow.js';
import { type Kind, type Kinds, pathOf } from './kinds.js';
import { countReady } from './problems.js';
import { api, kinds } from './session.js';
import { LiveTable, readTable } from './table.js';
import { kindOfTarget } from './target-link.js';
import { useWhileShown } from './use-follow.js';

/** How a kind of workload stands. */
export interface WorkloadCount {
  readonly kind: Kind;
  readonly total: number;
  readonly ready: number;
}

/** What the overview shows beside the pods. Missing parts could not be read. */
export interface OverviewData {
  readonly nodes: readonly unknown[] | undefined;
  readonly quotas: readonly unknown[] | undefined;
  readonly warnings: readonly unknown[] | undefined;
  readonly workloads: readonly WorkloadCount[];
  /** How many there are of other kinds. */
  readonly counts: readonly { readonly kind: Kind; readonly count: number }[];
}

const everyMs = 10_000;
const retryMs = 2000;
const mostItems = 1000;
const drawMs = 300;

const workloads = [
  ['apps', 'deployments'],
  ['apps', 'statefulsets'],
  ['apps', 'daemonsets'],
] as const;
const counted = [
  ['', 'services'],
  ['networking', 'ingresses'],
  ['', 'persistentvolumeclaims'],
  ['batch', 'jobs'],
  ['batch', 'cronjobs'],
] as const;

/** The pods as a live table. */
export function usePods(namespace: string): LiveTable {
  const drawn = useSignal(0);
  const table = useMemo(() => {
    let isPlanned = false;
    return new LiveTable(
      api,
      pathOf({ group: '', version: 'v1', resource: 'pods' }, namespace),
      {},
      kinds.value?.suffix ?? 'k8s.io',
      () => {
        if (isPlanned) return;
        isPlanned = true;
        setTimeout(() => {
          isPlanned = false;
          drawn.value++;
        }, drawMs);
      },
    );
  }, [namespace]);
  useWhileShown((signal) => table.run(signal, waitInBrowser), [table]);
  void drawn.value;
  return table;
}

/** Everything else, read again every few seconds. */
export function useOverview(namespace: string): Signal<OverviewData | undefined> {
  const data = useSignal<OverviewData | undefined>(undefined);
  useWhileShown(
    async (signal) => {
      while (!signal.aborted) {
        const known = kinds.value;
        const read = known && (await readOverview(api, known, namespace, signal).catch(() => undefined));
        if (signal.aborted) return;
        if (read !== undefined) data.value = read;
        await waitInBrowser(read === undefined ? retryMs : everyMs, signal);
      }
    },
    [namespace],
  );
  return data;
}

async function readOverview(from: Api, known: Kinds, namespace: string, signal: AbortSignal): Promise<OverviewData> {
  const items = async (group: string, resource: string, query: Record<string, string> = {}) => {
    const kind = kindOfTarget(known, group, resource);
    if (kind === undefined) return undefined;
    const path = pathOf(kind, kind.namespaced ? namespace : '');
    const all = new URLSearchParams({ limit: String(mostItems), ...query });
    const list = await from.json<{ readonly items?: readonly unknown[] | null }>(`${path}?${all}`, { signal });
    return list.items ?? [];
  };
  const [nodes, quotas, warnings, ready, counts] = await Promise.all([
    readable(items('', 'nodes')),
    readable(items('', 'resourcequotas')),
    readable(items('', 'events', { fieldSelector: 'type=Warning' })),
    Promise.all(
      workloads.map(([group, resource]) => readable(workloadCount(from, known, group, resource, namespace, signal))),
    ),
    Promise.all(
      counted.map(([group, resource]) =>
        readable(countOf(from, kindOfTarget(known, group, resource), namespace, signal)),
      ),
    ),
  ]);
  return {
    nodes,
    quotas,
    warnings,
    workloads: ready.filter((each) => each !== undefined),
    counts: counts.filter((each) => each !== undefined),
  };
}

/** Undefined for what the user may not read, or the server does not serve. */
async function readable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiFault && error.code >= 400 && error.code < 500) return undefined;
    throw error;
  }
}

async function workloadCount(
  from: Api,
  known: Kinds,
  group: string,
  resource: string,
  namespace: string,
  signal: AbortSignal,
): Promise<WorkloadCount | undefined> {
  const kind = kindOfTarget(known, group, resource);
  if (kind === undefined) return undefined;
  const path = `${pathOf(kind, namespace)}?limit=${mostItems}`;
  const { columns, rows } = await readTable(from, path, known.suffix, signal);
  if (resource !== 'daemonsets') return { kind, total: rows.length, ready: countReady(columns, rows) };
  const cell = (name: string) => columns.findIndex((column) => column.name === name);
  const [want, have] = [cell('Desired'), cell('Ready')];
  const ready = rows.filter(({ cells }) => Number(cells[have]) >= Number(cells[want])).length;
  return { kind, total: rows.length, ready };
}

/** Counts without reading: the first page says how many are left. */
async function countOf(from: Api, kind: Kind | undefined, namespace: string, signal: AbortSignal) {
  if (kind === undefined) return undefined;
  const { items, metadata } = await from.json<{
    readonly items?: readonly unknown[] | null;
    readonly metadata?: { readonly remainingItemCount?: number };
  }>(`${pathOf(kind, namespace)}?limit=1`, { signal });
  return { kind, count: (items?.length ?? 0) + (metadata?.remainingItemCount ?? 0) };
}
