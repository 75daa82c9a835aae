import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { ApiFault } from '../cluster/api-fault.js';
import { collectionPath } from '../cluster/collection-path.js';
import type { ServedKind } from '../cluster/served-kind.js';

/** The requests that a restore needs. The console sends them from the browser. */
export interface RestoreClient {
  /** @throws ApiFault for an error response */
  send<T = Record<string, unknown>>(
    method: string,
    path: string,
    options: { readonly body?: unknown; readonly signal: AbortSignal },
  ): Promise<T>;
  /** One part of a list; `onItem` receives each object as the server wrote it. */
  list(
    path: string,
    signal: AbortSignal,
    onItem: (item: { toString(encoding: 'utf8'): string }) => Promise<void>,
  ): Promise<{ readonly continue?: string }>;
}

/** Which objects of a kind are wanted. */
export interface Wanted {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly selector?: string | undefined;
}

const pageSize = 500;

/**
 * The version that was the newest at a moment: a version itself, or the one that the server finds for a time or a span.
 *
 * @throws StartupError when the server can't find the version, or refuses the request
 */
export async function versionAt(client: RestoreClient, moment: string, signal: AbortSignal): Promise<string> {
  if (/^\d{1,18}$/.test(moment)) return moment;
  try {
    const path = `/history/version?at=${encodeURIComponent(moment)}`;
    const { resourceVersion } = await client.send<{ resourceVersion: string }>('GET', path, { signal });
    return resourceVersion;
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    const hint = error.status === 403 ? '; without the right to GET /history/version, give --at a version' : '';
    throw new StartupError(`${error.message}${hint}`, { cause: error });
  }
}

/**
 * The objects of a kind as they are, or as they were at a version. Numbers keep their spelling.
 *
 * @throws ApiFault when they can't be listed
 */
export async function objectsOf(
  client: RestoreClient,
  kind: ServedKind,
  { namespace, name, selector }: Wanted,
  version: string | undefined,
  signal: AbortSignal,
): Promise<ApiObject[]> {
  const objects: ApiObject[] = [];
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (name !== undefined) query.set('fieldSelector', `metadata.name=${name}`);
  if (selector !== undefined) query.set('labelSelector', selector);
  const path = collectionPath(kind, kind.namespaced ? namespace : undefined);
  const first = new URLSearchParams(query);
  if (version !== undefined) {
    first.set('resourceVersion', version);
    first.set('resourceVersionMatch', 'Exact');
  }
  for (let token = ''; ; ) {
    const next = token === '' ? first : new URLSearchParams([...query, ['continue', token]]);
    const part = await client.list(`${path}?${next}`, signal, async (item) => {
      const object = parseJson(item.toString('utf8')) as ApiObject;
      objects.push({ ...object, apiVersion: kind.apiVersion, kind: kind.kind });
    });
    token = part.continue ?? '';
    if (token === '') return objects;
  }
}

/** The path of an object. */
export function objectPath(kind: ServedKind, { namespace, name = '' }: ApiObject['metadata']): string {
  return `${collectionPath(kind, kind.namespaced ? namespace : undefined)}/${encodeURIComponent(name)}`;
}
