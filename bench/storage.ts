import { parseArgs } from 'node:util';
import { migrate } from '../src/storage/postgres/migrate.js';
import { createPostgresStorage, type PostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import type { StorageKey } from '../src/storage/storage-key.js';
import { startTestPostgres } from '../test/support/test-postgres.js';
import { podJson } from './pod-json.js';

/*
 * Storage alone, in one process: writes (half creates, half updates of 2 KB objects) and gets, by 1, 16 and 64
 * concurrent clients. Prints one JSON line per figure. With --database-url it measures that (empty) database, otherwise
 * a fresh Postgres with fsync on.
 */

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1,16,64' },
    'database-url': { type: 'string' },
  },
});
const durationMs = Number(flags.seconds) * 1000;
const clientCounts = (flags.clients ?? '').split(',').map(Number);

async function measure(what: string, clients: number, once: (client: number) => Promise<void>): Promise<void> {
  const times: number[] = [];
  const began = performance.now();
  const end = began + durationMs;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (performance.now() < end) {
        const start = performance.now();
        await once(client);
        times.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => Number((times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(2));
  const line = { what, clients, perSecond: Math.round(times.length / seconds), p50Ms: at(0.5), p99Ms: at(0.99) };
  console.log(JSON.stringify(line));
}

async function run(storage: PostgresStorage): Promise<void> {
  const names: string[] = [];
  const documents = Array.from({ length: 500 }, (_, i) => podJson(`pod-${i}`, i));
  let count = 0;
  const key = (name: string): StorageKey => ({ resource: 'pods', namespace: 'default', name });
  const document = (): string => documents[count++ % documents.length] ?? '';
  console.log(JSON.stringify({ what: 'object size', bytes: document().length }));

  for (const clients of clientCounts) {
    await measure('write', clients, async (client) => {
      const name = `pod-${clients}-${client}-${count}`;
      if (count++ % 2 === 0 || names.length < clients) {
        const json = document();
        await storage.create(key(name), name, json);
        names.push(name);
      } else {
        const target = key(names[Math.floor(Math.random() * names.length)] ?? '');
        await storage.guaranteedUpdate(target, {}, (current) => ({
          kind: 'write',
          json: document(),
          uid: current?.uid ?? '',
        }));
      }
    });
    await measure('create', clients, async (client) => {
      const name = `new-${clients}-${client}-${count}`;
      await storage.create(key(name), name, document());
      names.push(name);
    });
  }
  for (const clients of clientCounts) {
    await measure('get', clients, async () => {
      await storage.get(key(names[Math.floor(Math.random() * names.length)] ?? ''));
    });
  }
  await measure('head', 16, async () => {
    await storage.head();
  });
  const began = performance.now();
  const page = await storage.list({ resource: 'pods' });
  console.log(JSON.stringify({ what: 'list', objects: page.items.length, ms: Math.round(performance.now() - began) }));
}

const server = flags['database-url'] === undefined ? await startTestPostgres({ fsync: true }) : undefined;
try {
  const databaseUrl = flags['database-url'] ?? (await server?.createTestDatabase()) ?? '';
  await migrate(databaseUrl);
  const storage = await createPostgresStorage({ databaseUrl });
  try {
    await run(storage);
  } finally {
    await storage.stop();
  }
} finally {
  await server?.stop();
}
