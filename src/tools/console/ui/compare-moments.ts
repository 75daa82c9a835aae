import type { Api } from './api.js';
import { ApiFault } from './api-fault.js';
import { canList, type Kind, pathOf } from './kinds.js';
import type { Metadata } from './metadata.js';
import { type ObjectChange, objectChanges } from './object-changes.js';
import { type ApiObject, readObject } from './yaml-text.js';

export interface Comparison {
  readonly changes: readonly ObjectChange[];
  /** Kinds that could not be compared, and why. */
  readonly problems: readonly string[];
}

export interface Compared {
  readonly namespace: string;
  /** The first moment. */
  readonly from: { readonly time: number; readonly version: string };
  /** The version of the second moment; empty: now. */
  readonly to: string;
  /** Whether kinds that change all the time and have little content are compared, too. */
  readonly withBookkeeping: boolean;
}

const pageSize = 500;
/** The most objects of a kind at each moment. */
const mostPerKind = 10_000;
const parallel = 4;
/** Up to this many changed objects of a kind are read one by one, more with their whole list. */
const fewChanged = 20;

/** Kinds that are written all the time, or by what happens to others. */
const bookkeeping: ReadonlySet<string> = new Set(['events', 'leases', 'endpoints', 'endpointslices', 'ipaddresses']);
const leftOut: ReadonlySet<string> = new Set(['componentstatuses']);

/** The kinds whose past can be compared, in a namespace or everywhere. */
export function comparedKinds(kinds: readonly Kind[], namespace: string, withBookkeeping: boolean): readonly Kind[] {
  return kinds.filter(
    (kind) =>
      canList(kind) &&
      (namespace === '' || kind.namespaced) &&
      !leftOut.has(kind.resource) &&
      !kind.group.startsWith('metrics.') &&
      // Events are served in two groups.
      !(kind.resource === 'events' && kind.group !== '') &&
      (withBookkeeping || !bookkeeping.has(kind.resource)),
  );
}

/**
 * What changed between two moments, as far as the user may list it. Objects that came and went in between are not seen.
 *
 * @param api the client that reads the present state
 */
export async function compareMoments(
  api: Api,
  kinds: readonly Kind[],
  suffix: string,
  compared: Compared,
  signal: AbortSignal,
): Promise<Comparison> {
  const wanted = [...comparedKinds(kinds, compared.namespace, compared.withBookkeeping)];
  const changes: ObjectChange[] = [];
  const problems: string[] = [];
  const work = async () => {
    for (let kind = wanted.shift(); kind !== undefined; kind = wanted.shift()) {
      try {
        changes.push(...(await compareKind(api, kind, suffix, compared, signal)));
      } catch (error) {
        signal.throwIfAborted();
        const code = error instanceof ApiFault ? error.code : 0;
        if (code !== 404 && code !== 405) problems.push(`${kind.resource}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { changes: changes.toSorted(byTime), problems: problems.toSorted() };
}

/** The newest first; deleted objects, of which nobody wrote down when, at the end. */
function byTime(a: ObjectChange, b: ObjectChange): number {
  if (a.time !== b.time) return a.time < b.time ? 1 : -1;
  return `${a.kind.resource}/${a.name}` < `${b.kind.resource}/${b.name}` ? -1 : 1;
}

async function compareKind(
  api: Api,
  kind: Kind,
  suffix: string,
  { namespace, from, to }: Compared,
  signal: AbortSignal,
): Promise<readonly ObjectChange[]> {
  const reader = new ListReader(api, kind, namespace, signal);
  const light = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${suffix},application/json`;
  const [before, after] = await Promise.all([
    reader.list(from.version, { accept: light }),
    reader.list(to, { accept: light }),
  ]);
  const versions = (list: readonly ApiObject[]) =>
    new Map(list.map(({ metadata }) => [keyOf(metadata), metadata.resourceVersion]));
  const [earlier, later] = [versions(before), versions(after)];
  const changed = [...before, ...after].filter(
    ({ metadata }) => earlier.get(keyOf(metadata)) !== later.get(keyOf(metadata)),
  );
  if (changed.length === 0) return [];
  const keys = new Set(changed.map(({ metadata }) => keyOf(metadata)));
  if (keys.size > fewChanged) {
    const [whole, wholeAfter] = await Promise.all([reader.list(from.version, {}), reader.list(to, {})]);
    return objectChanges(kind, whole, wholeAfter, from.time);
  }
  const named = new Map(changed.map(({ metadata }) => [keyOf(metadata), metadata]));
  const read = async (version: string) =>
    (await Promise.all([...named.values()].map((metadata) => reader.one(version, metadata)))).flat();
  return objectChanges(kind, await read(from.version), await read(to), from.time);
}

/** Reads the objects of a kind at versions. */
class ListReader {
  constructor(
    private readonly api: Api,
    private readonly kind: Kind,
    private readonly namespace: string,
    private readonly signal: AbortSignal,
  ) {}

  async list(
    version: string,
    { accept = 'application/json', name = '', namespace = this.namespace },
  ): Promise<readonly ApiObject[]> {
    const path = pathOf(this.kind, this.kind.namespaced ? namespace : '');
    const found: ApiObject[] = [];
    let next = '';
    do {
      const query = new URLSearchParams({ limit: String(pageSize) });
      if (name !== '') query.set('fieldSelector', `metadata.name=${name}`);
      if (next !== '') query.set('continue', next);
      else if (version !== '') {
        query.set('resourceVersion', version);
        query.set('resourceVersionMatch', 'Exact');
      }
      const page = readObject(await this.api.text(`${path}?${query}`, { accept, signal: this.signal }));
      found.push(...((page.items ?? []) as ApiObject[]));
      next = (page.metadata as { readonly continue?: string }).continue ?? '';
      if (found.length > mostPerKind) throw new Error(`more than ${mostPerKind} objects are not compared`);
    } while (next !== '');
    return found;
  }

  one(version: string, { name, namespace = '' }: Metadata): Promise<readonly ApiObject[]> {
    return this.list(version, { name, namespace });
  }
}

function keyOf({ namespace = '', name }: Metadata): string {
  return `${namespace}/${name}`;
}
