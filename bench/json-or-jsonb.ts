import { bigintArray, smallintArray, textArray } from '../src/storage/postgres/binary-array.js';
import { silentObserver } from '../src/storage/postgres/postgres-storage-options.js';
import { Session } from '../src/storage/postgres/session.js';
import { GET_OBJECTS, WRITE_BATCH } from '../src/storage/postgres/statements.js';
import { startTestPostgres } from '../test/support/test-postgres.js';
import { podJson } from './pod-json.js';

/*
 * The figures of docs/decisions/0001: the same tables and functions with json and with jsonb columns, one connection,
 * fsync on, in turns so that a busy machine disturbs both alike. Prints one JSON line per figure, the best of all
 * turns (the least disturbed one).
 */

const TURNS = Number(process.argv[2] ?? 8);
const MS = Number(process.argv[3] ?? 600);
const TABLES = ['objects', 'changes'];
const FUNCTIONS = ['write_batch', 'get_objects', 'list_page', 'read_changes'];

const documents = Array.from({ length: 500 }, (_, i) => podJson(`pod-${i}`, i));
const server = await startTestPostgres({ fsync: true });

async function open(type: 'json' | 'jsonb'): Promise<Session> {
  const url = await server.createTestDatabase();
  const options = {
    url,
    applicationName: 'bench',
    connectTimeoutMs: 5_000,
    role: 'reader',
    observer: silentObserver,
  } as const;
  const session = await Session.open(options);
  if (type === 'json') return session;
  // The views of the schema cluster read the columns.
  await session.execute('drop', 'drop schema if exists cluster cascade', 60_000);
  for (const table of TABLES) {
    const columns = table === 'changes' ? ['data', 'previous'] : ['data'];
    const changes = columns.map((column) => `alter ${column} type jsonb`).join(', ');
    await session.execute('alter', `alter table plinth.${table} ${changes}`, 60_000);
  }
  for (const name of FUNCTIONS) {
    const [row] = await session.execute('source', `select pg_get_functiondef('plinth.${name}'::regproc)`, 60_000);
    const source = (row?.[0] ?? '').replaceAll(/\bjson\b/g, 'jsonb');
    await session.execute('replace', `drop function plinth.${name}; ${source}`, 60_000);
  }
  return session;
}

async function perSecond(size: number, once: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let count = 0;
  while (performance.now() - began < MS) {
    await once();
    count += size;
  }
  return (count * 1000) / (performance.now() - began);
}

const figures = new Map<string, number[]>();
const note = (what: string, figure: number): void => {
  figures.set(what, [...(figures.get(what) ?? []), figure]);
};

for (let turn = 0; turn < TURNS; turn++) {
  for (const type of ['json', 'jsonb'] as const) {
    const session = await open(type);
    const live: { name: string; version: bigint | null }[] = [];
    let batch = 0;
    const write = async (size: number): Promise<void> => {
      batch += 1;
      const targets = Array.from({ length: size }, (_, i) => {
        // Half creates, half updates; no object occurs twice in a batch.
        const old = i % 2 === 1 ? live[(batch * 7919 + i) % live.length] : undefined;
        return old ?? { name: `pod-${batch}-${i}`, version: null };
      });
      const distinct = [...new Set(targets)];
      const rows = await session.run(
        WRITE_BATCH,
        [
          null,
          String(batch),
          smallintArray(distinct.map((target) => (target.version === null ? 0 : 1))),
          null,
          textArray(distinct.map(() => 'pods')),
          textArray(distinct.map(() => 'default')),
          textArray(distinct.map((target) => target.name)),
          textArray(distinct.map(() => 'uid')),
          bigintArray(distinct.map((target) => target.version)),
          textArray(distinct.map((_, i) => documents[(batch + i) % documents.length] ?? '')),
          null,
          null,
          null,
          'true',
        ],
        60_000,
      );
      for (const row of rows) {
        const target = distinct[Number(row[0]) - 1];
        if (target === undefined || row[1] === null || row[1] === undefined) throw new Error('a write was refused');
        if (target.version === null) live.push(target);
        target.version = BigInt(row[1]);
      }
    };
    const get = async (size: number): Promise<void> => {
      const names = Array.from({ length: size }, () => live[Math.floor(Math.random() * live.length)]?.name ?? '');
      const fill = (text: string): Buffer => textArray(names.map(() => text));
      await session.run(GET_OBJECTS, [fill('pods'), fill('default'), textArray(names)], 60_000);
    };
    for (const size of [1, 16, 64])
      note(`${type} writes/s, batches of ${size}`, await perSecond(size, () => write(size)));
    for (const size of [1, 16]) note(`${type} gets/s, batches of ${size}`, await perSecond(size, () => get(size)));
    await session.close();
  }
}
await server.stop();

console.log(JSON.stringify({ what: 'bytes per object', value: Buffer.byteLength(documents[0] ?? '') }));
for (const [what, values] of figures) {
  console.log(JSON.stringify({ what, value: Math.round(Math.max(...values)) }));
}
