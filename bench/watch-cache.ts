import { parseFieldSelector } from '../src/base/machinery/field-selector.js';
import { parseLabelSelector } from '../src/base/machinery/label-selector.js';
import { CachedStorage } from '../src/storage/cacher/cached-storage.js';
import { OrderedEntries } from '../src/storage/cacher/ordered-entries.js';
import { WatchCache } from '../src/storage/cacher/watch-cache.js';
import { migrate } from '../src/storage/postgres/migrate.js';
import { createPostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import type { AttributeSource } from '../src/storage/selection-predicate.js';
import type { Change, StoredObject } from '../src/storage/storage.interface.js';
import { startTestPostgres } from '../test/support/test-postgres.js';
import { podJson } from './pod-json.js';

/*
 * The watch cache in one process, in CPU time, since other work on the machine moves wall-clock times. Measures the
 * cost of a list, a selection and an update with 10,000 and 100,000 objects, the memory of an object, and the cost of a
 * single get from the database and from memory after a look at the head. Prints one JSON line per figure. Run with
 * --expose-gc for the memory.
 */

const resource = 'pods';
const window = { changes: 20_000, bytes: 48 * 1024 * 1024 };

const source: AttributeSource = {
  extract: (json) => {
    const { metadata, spec } = JSON.parse(json) as {
      metadata: { labels: Record<string, string> };
      spec: { nodeName: string };
    };
    return { source, labels: metadata.labels, fields: { 'spec.nodeName': spec.nodeName } };
  },
};

const select = (labels: string, fields = '') => ({
  source,
  labels: parseLabelSelector(labels),
  fields: parseFieldSelector(fields),
});

function report(what: string, objects: number, figures: Record<string, number>): void {
  console.log(JSON.stringify({ what, objects, ...figures }));
}

/** CPU microseconds per call, user and system. */
function cpuPerCall(times: number, call: (i: number) => unknown): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) call(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const rounded = (value: number): number => Number(value.toPrecision(3));

function pod(i: number, revision: number, version: bigint): StoredObject {
  const key = { resource, namespace: `ns-${i % 20}`, name: `pod-${String(i).padStart(6, '0')}` };
  return { key, uid: crypto.randomUUID(), resourceVersion: version, json: podJson(key.name, revision % 100) };
}

function memory(): number {
  gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function inMemory(objects: number): void {
  const began = memory();
  const cache = new WatchCache(resource, window);
  for (let i = 0; i < objects; i += 1_000) {
    cache.load(Array.from({ length: Math.min(1_000, objects - i) }, (_, n) => pod(i + n, i + n, BigInt(i + n + 1))));
  }
  cache.begin(BigInt(objects));
  const held = memory() - began;
  report('memory per object', objects, {
    bytes: Math.round(held / objects),
    estimated: Math.round(cache.bytes / objects),
    json: Math.round(cache.list({})?.items.reduce((sum, { json }) => sum + json.length / objects, 0) ?? 0),
  });

  const rounds = Math.max(3, 1_000_000 / objects);
  report('list of everything', objects, {
    nsPerItem: rounded((cpuPerCall(rounds, () => cache.list({})) * 1000) / objects),
  });
  const after = { namespace: 'ns-3', name: 'pod-000500' };
  report('page of 500 with the count behind', objects, {
    usPerCall: rounded(cpuPerCall(2_000, () => cache.list({ after, limit: 500, countRemaining: true }))),
  });
  for (const [what, selection] of [
    ['label equality, 1 in 100', select('revision=7')],
    ['field equality, 1 in 50', select('', 'spec.nodeName=node-7')],
    ['label inequality, 99 in 100', select('revision!=7')],
  ] as const) {
    const first = cpuPerCall(1, () => cache.list({ select: selection }));
    const calls = Math.max(10, 2_000_000 / objects);
    const later = cpuPerCall(calls, () => cache.list({ select: selection }));
    report(what, objects, { firstUs: Math.round(first), usPerCall: rounded(later) });
  }
  const states = Array.from({ length: 2_000 }, (_, n) => {
    const i = (n * 7919) % objects;
    return pod(i, n, BigInt(objects + n + 1));
  });
  const update = (n: number): readonly Change[] => {
    const object = states[n] as StoredObject;
    const change: Change = { type: 'update', previousJson: '{}', ...object };
    return cache.apply([change], object.resourceVersion);
  };
  report('update, two terms indexed', objects, { usPerCall: rounded(cpuPerCall(states.length, update)) });
  const past = BigInt(objects);
  report('list of everything, 2,000 changes ago', objects, {
    nsPerItem: rounded((cpuPerCall(3, () => cache.list({ at: past })) * 1000) / objects),
  });
  pastPages(cache, objects);
  const entries = new OrderedEntries<{ namespace: string; name: string }>();
  for (let i = 0; i < objects; i++) entries.set({ namespace: 'one', name: `pod-${i}` });
  report('put in and take out in one namespace', objects, {
    usPerCall: rounded(
      cpuPerCall(5_000, (i) => {
        const name = `pod-${(i * 7919) % objects}x`;
        entries.set({ namespace: 'one', name });
        entries.delete('one', name);
      }) / 2,
    ),
  });
}

/** Pages of a version after which many objects have come and gone, as a client meets that goes through a long list. */
function pastPages(cache: WatchCache, objects: number): void {
  const { position } = cache;
  let version = position;
  const changes = 18_000;
  const change = (n: number) => {
    version += 1n;
    const object = pod(objects + (n >> 1), n, version);
    const type = n % 2 === 0 ? 'create' : 'delete';
    return cache.apply([{ type, previousJson: type === 'delete' ? '{}' : undefined, ...object }], version);
  };
  report('create or delete', objects, { usPerCall: rounded(cpuPerCall(changes, change)) });
  const after = { namespace: 'ns-3', name: 'pod-000500' };
  for (const limit of [1, 500]) {
    const page = () => cache.list({ at: position, after, limit, countRemaining: true });
    report(`page of ${limit} with the count behind, ${changes} changes ago`, objects, {
      usPerCall: rounded(cpuPerCall(50, page)),
    });
  }
}

/** One get by each of `clients` at a time: from the store, and from the cache after a look at the head. */
async function gets(): Promise<void> {
  const server = await startTestPostgres({ fsync: true });
  const databaseUrl = await server.createTestDatabase();
  await migrate(databaseUrl);
  const inner = await createPostgresStorage({ databaseUrl });
  const cached = new CachedStorage(inner);
  try {
    const objects = Array.from({ length: 5_000 }, (_, i) => pod(i, i, 0n));
    for (let i = 0; i < objects.length; i += 500) {
      await Promise.all(objects.slice(i, i + 500).map(({ key, uid, json }) => cached.create(key, uid, json)));
    }
    await cached.list({ resource });
    const ways = {
      database: (object: StoredObject) => inner.get(object.key),
      'head and memory': async (object: StoredObject) => cached.get(object.key, await inner.head()),
    };
    for (const clients of [1, 16, 64]) {
      for (const [what, get] of Object.entries(ways)) {
        const total = 6_000;
        const before = process.cpuUsage();
        const began = performance.now();
        const worker = async (client: number) => {
          for (let i = client; i < total; i += clients) {
            if ((await get(objects[(i * 31) % objects.length] as StoredObject)) === undefined)
              throw new Error('no object');
          }
        };
        await Promise.all(Array.from({ length: clients }, (_, client) => worker(client)));
        const { user, system } = process.cpuUsage(before);
        report(`get, ${what}, ${clients} clients`, objects.length, {
          cpuUsPerCall: rounded((user + system) / total),
          perSecond: Math.round((total * 1000) / (performance.now() - began)),
        });
      }
    }
  } finally {
    await cached.stop();
    await inner.stop();
    await server.stop();
  }
}

for (const objects of [10_000, 100_000]) inMemory(objects);
await gets();
