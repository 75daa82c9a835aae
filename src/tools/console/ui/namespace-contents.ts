import type { Api } from './api.js';

/** What people miss when a namespace is gone, with the words for one and for several. */
const counted = [
  ['/apis/apps/v1', 'deployments', 'deployment'],
  ['/apis/apps/v1', 'statefulsets', 'stateful set'],
  ['/apis/apps/v1', 'daemonsets', 'daemon set'],
  ['/apis/batch/v1', 'cronjobs', 'cron job'],
  ['/api/v1', 'pods', 'pod'],
  ['/api/v1', 'services', 'service'],
  ['/api/v1', 'configmaps', 'config map'],
  ['/api/v1', 'secrets', 'secret'],
  ['/api/v1', 'persistentvolumeclaims', 'volume claim'],
] as const;

/** How many objects of the usual kinds are in a namespace, by the word for one. Kinds that can't be read are left out. */
export async function countContents(
  api: Pick<Api, 'json'>,
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const counts = await Promise.all(
    counted.map(async ([root, resource, noun]): Promise<[string, number]> => {
      const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}?limit=1`;
      try {
        const { items = [], metadata } = await api.json<CountedList>(path, { signal });
        return [noun, items.length + (metadata?.remainingItemCount ?? 0)];
      } catch {
        return [noun, 0];
      }
    }),
  );
  return new Map(counts.filter(([, count]) => count > 0));
}

interface CountedList {
  readonly items?: readonly unknown[];
  readonly metadata?: { readonly remainingItemCount?: number };
}

/** `1 deployment, 3 pods`; empty when nothing was counted. */
export function contentsText(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([noun, count]) => `${count} ${noun}${count === 1 ? '' : 's'}`).join(', ');
}
