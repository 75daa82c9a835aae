import type { Random } from '../../../test/support/random.js';
import type { TestPostgres } from '../../../test/support/test-postgres.js';
import { parseFieldSelector } from '../../base/machinery/field-selector.js';
import { parseLabelSelector } from '../../base/machinery/label-selector.js';
import { type CacheOptions, type DropReason, silentCacheObserver } from '../cacher/cache-options.js';
import { CachedStorage } from '../cacher/cached-storage.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import type { AttributeSource } from '../selection-predicate.js';
import type { Change, ListQuery } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { put, remove } from './storage-contract.js';

/** Options that wait for caches as long as needed, because the tests are about the cache. */
export const patient: Partial<CacheOptions> = { partFillWaitMs: 30_000, fillWaitMs: 30_000, quietMs: 10 };

/** Extracts labels and fields from the small objects that the tests write. */
export const source: AttributeSource = {
  extract: (json) => {
    const { labels, node } = JSON.parse(json) as { labels?: Record<string, string>; node?: string };
    return { source, labels, fields: { 'spec.node': node ?? '' } };
  },
};

/** A selection of these objects by their labels and fields. */
export const select = (labels: string, fields = '') => ({
  source,
  labels: parseLabelSelector(labels),
  fields: parseFieldSelector(fields),
});

/** A cached store, and another process on the same database that has no cache. */
export interface CachedScene {
  readonly cached: CachedStorage;
  readonly inner: PostgresStorage;
  readonly other: PostgresStorage;
  /** `RESOURCE REASON` of every cache that was dropped. */
  readonly drops: readonly string[];
  /** The number of reads from memory, and of other reads. */
  readonly reads: Readonly<Record<'hit' | 'miss', number>>;
  stop(): Promise<void>;
}

/** Opens both stores over a database of their own; the caller stops them. */
export async function openCached(server: TestPostgres, options: Partial<CacheOptions> = {}): Promise<CachedScene> {
  const databaseUrl = await server.createTestDatabase();
  const inner = await createPostgresStorage({ databaseUrl });
  const other = await createPostgresStorage({ databaseUrl });
  const drops: string[] = [];
  const reads = { hit: 0, miss: 0 };
  const cached = new CachedStorage(inner, {
    ...patient,
    ...options,
    observer: {
      ...silentCacheObserver,
      dropped: (resource: string, reason: DropReason) => drops.push(`${resource} ${reason}`),
      read: (_resource: string, fromCache: boolean) => {
        reads[fromCache ? 'hit' : 'miss'] += 1;
      },
    },
  });
  const stop = async () => {
    await cached.stop();
    await Promise.all([inner.stop(), other.stop()]);
  };
  return { cached, inner, other, drops, reads, stop };
}

/** Creates, changes or deletes one of a few objects. */
export async function writeSomething(
  random: Random,
  writer: CachedStorage | PostgresStorage,
  reader: PostgresStorage,
  resource: string,
): Promise<void> {
  const key: StorageKey = { resource, namespace: random.pick(['a', 'b', 'é']), name: `n${random.below(12)}` };
  const json = JSON.stringify({
    labels: random.chance(0.8) ? { app: `app-${random.below(4)}`, tier: random.pick(['x', 'y']) } : undefined,
    node: random.chance(0.5) ? `node-${random.below(3)}` : undefined,
    n: random.below(1_000_000),
  });
  if ((await reader.get(key)) === undefined) await writer.create(key, `uid-${random.below(1_000_000)}`, json);
  else if (random.chance(0.3)) await remove(writer, key);
  else await put(writer, key, json);
}

/** A random list query for these objects, with any of its fields. */
export function randomQuery(random: Random, resource: string): ListQuery {
  const selector = random.pick([
    undefined,
    undefined,
    select('app=app-1'),
    select('app in (app-1,app-2),tier=x'),
    select('app!=app-1'),
    select('!app'),
    select('', 'spec.node=node-1'),
    select('tier', 'spec.node!=node-1'),
  ]);
  return {
    resource,
    namespace: random.chance(0.4) ? random.pick(['a', 'b', 'none']) : undefined,
    name: random.chance(0.1) ? 'n3' : undefined,
    after: random.chance(0.3) ? { namespace: random.pick(['a', 'b']), name: 'n4' } : undefined,
    limit: random.chance(0.5) ? 1 + random.below(8) : undefined,
    select: selector,
    countRemaining: selector === undefined && random.chance(0.5),
  };
}

/** A change as one line, to compare. */
export const describeChange = ({ type, key, resourceVersion, json, previousJson }: Change): string =>
  `${resourceVersion} ${type} ${key.namespace}/${key.name} ${json} ${previousJson}`;
