import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { LocalDatabase } from './local-database.js';
import { createPostgresStorage } from './postgres-storage.js';
import { resolveOptions } from './postgres-storage-options.js';

let server: TestPostgres;
before(async () => {
  server = await startTestPostgres();
});
after(() => server.stop());

it('others are notified of what a process writes, as long as there may be any', async () => {
  const databaseUrl = await server.createTestDatabase();
  const peer = new pg.Client({ connectionString: databaseUrl });
  await peer.connect();
  const { rows } = await peer.query('select channel from plinth.epoch');
  await peer.query(`listen "${rows[0].channel}"`);
  const versions: string[] = [];
  peer.on('notification', ({ payload = '' }) => {
    if (/^\d+$/.test(payload)) versions.push(payload);
  });
  const database = new LocalDatabase(resolveOptions({ databaseUrl }), { batchEnded: () => {}, hint: () => {} });
  await database.start();
  try {
    const write = async (name: string, hasOthers: boolean): Promise<string> => {
      const { listener } = database as unknown as { listener: object };
      Object.defineProperty(listener, 'mayHaveOthers', { value: hasOthers, configurable: true });
      const key = { resource: 'things', namespace: 'default', name };
      const answer = await database.writer.write({
        op: 'create',
        key,
        uid: name,
        expected: null,
        json: '{}',
        previousJson: undefined,
      });
      assert.equal(answer.kind, 'written');
      return answer.kind === 'written' ? String(answer.resourceVersion) : '';
    };
    const first = await write('first', true);
    await write('alone', false);
    const last = await write('last', true);
    while (!versions.includes(last)) await once(peer, 'notification');
    assert.deepEqual(versions, [first, last]);
  } finally {
    await database.stop();
    await database.close();
    await peer.end();
  }
});

it('a process that was alone notifies one that comes later', { timeout: 60_000 }, async () => {
  const databaseUrl = await server.createTestDatabase();
  // The poll is too rare to find anything during the test.
  const options = { databaseUrl, notifyPollMs: 600_000 };
  const old = await createPostgresStorage(options);
  interface Others {
    lastHeardAt: number | undefined;
    readonly mayExist: boolean;
  }
  const { others } = (old as unknown as { database: { listener: { others: Others } } }).database.listener;
  // Makes the listener look as if it had not heard from others for a long time.
  while (others.lastHeardAt === undefined) await old.head();
  others.lastHeardAt = Number.NEGATIVE_INFINITY;
  assert.equal(others.mayExist, false);
  const young = await createPostgresStorage(options);
  try {
    const watch = await young.watch({ resource: 'things' }, await young.head());
    let found = false;
    const first = watch.next().then(async (batch) => {
      let next = batch;
      while (next?.changes.length === 0) next = await watch.next();
      found = true;
      return next?.changes[0]?.key.name;
    });
    for (let i = 0; !found; i++) {
      await old.create({ resource: 'things', namespace: 'default', name: `thing-${i}` }, 'u', '{}');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await first, 'thing-0');
    // The young process may have read the change on its own before the old one heard from it.
    while (!others.mayExist) await new Promise((resolve) => setImmediate(resolve));
    watch.close();
  } finally {
    await Promise.all([old.stop(), young.stop()]);
  }
});
