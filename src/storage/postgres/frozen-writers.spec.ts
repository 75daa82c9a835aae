import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import type { StorageKey } from '../storage-key.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';

const key = (name: string): StorageKey => ({ resource: 'things', namespace: 'default', name });
const names = Array.from({ length: 60 }, (_, i) => `large-${i}`);
/** All of these texts together are far larger than the buffers of the sockets on the path. */
const largeText = JSON.stringify({ text: 'x'.repeat(300_000) });

interface Connection {
  parse(query: { readonly text: string }): void;
  bind(values: object): void;
  execute(portal: object): void;
  flush(): void;
}

/** A statement sent without the message that ends its transaction. */
class Unended {
  constructor(private readonly text: string) {}

  submit(connection: Connection): void {
    connection.parse({ text: this.text });
    connection.bind({});
    connection.execute({});
    connection.flush();
  }

  handleCommandComplete(): void {
    // The server waits for the message that ends the transaction.
  }

  handleError(): void {
    // The end of the connection is reported as well.
  }
}

describe('a client of the database that stands still', () => {
  let server: TestPostgres;
  let client: pg.Client;
  let databaseUrl: string;
  let storage: PostgresStorage;

  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server.stop());

  const withStorage = async (use: () => Promise<void>): Promise<void> => {
    databaseUrl = await server.createTestDatabase();
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    // On a busy machine the first attempt of a write may fail.
    storage = await createPostgresStorage({ databaseUrl, writeWaitMs: 60_000 });
    try {
      await storage.create(key('first'), 'u', '{}');
      await use();
    } finally {
      await storage.stop();
      await client.end();
    }
  };

  /** Waits until a session holds the writers' lock while it waits for its client. */
  const held = async (event: 'ClientRead' | 'ClientWrite'): Promise<void> => {
    for (;;) {
      const { rowCount } = await client.query(
        `select from pg_locks l join pg_stat_activity a using (pid)
         where l.relation = 'plinth.lock_writes'::regclass and l.granted and a.wait_event = $1
           and a.datname = current_database()`,
        [event],
      );
      if (rowCount === 1) return;
      await sleep(20);
    }
  };

  it('does not keep others from writing when it is a server that does not read its answer', () =>
    withStorage(async () => {
      const proxy = await TcpProxy.start(server.port);
      const frozen = await createPostgresStorage({
        databaseUrl: proxy.through(databaseUrl),
        // Like a suspended process, the client does not give up its writes meanwhile.
        resolveDeadlineMs: 120_000,
      });
      try {
        await Promise.all(names.map((name) => storage.create(key(name), 'u', largeText)));
        await frozen.create(key('second'), 'u', '{}');
        proxy.holdAnswers();
        const updates = names.map((name) => {
          const stale = { key: key(name), uid: 'u', resourceVersion: 1n, json: '{}' };
          return frozen
            .guaranteedUpdate(key(name), { cachedCopy: stale }, () => ({
              kind: 'write',
              uid: 'u',
              json: '{"small":1}',
            }))
            .then(
              ({ object }) => object.resourceVersion,
              () => undefined,
            );
        });
        await held('ClientWrite');
        await storage.create(key('third'), 'u', '{}');
        proxy.release();
        // The writes may have been refused in the meantime, but none may be made without a response that reports it.
        const answers = await Promise.all(updates);
        for (const [i, name] of names.entries()) {
          const { rows } = await client.query<{ v: string }>(
            'select resource_version as v from plinth.changes where name = $1 and type = 1',
            [name],
          );
          assert.deepEqual(
            rows.map(({ v }) => BigInt(v)),
            answers[i] === undefined ? [] : [answers[i]],
          );
        }
      } finally {
        await frozen.stop();
        await proxy.stop();
      }
    }));

  it('does not keep others from writing when the end of its call is lost', () =>
    withStorage(async () => {
      const half = new pg.Client({ connectionString: databaseUrl });
      await half.connect();
      const ended = once(half, 'error');
      half.query(
        new Unended('do $$ begin lock table plinth.lock_writes in exclusive mode; end $$') as unknown as pg.Submittable,
      );
      await held('ClientRead');
      await storage.create(key('third'), 'u', '{}');
      await ended;
    }));

  it('is left alone in a transaction that somebody opened on purpose', () =>
    withStorage(async () => {
      await client.query('begin; lock table plinth.lock_writes in exclusive mode');
      const write = storage.create(key('third'), 'u', '{}');
      await sleep(5_000);
      await client.query('commit');
      await write;
    }));
});
