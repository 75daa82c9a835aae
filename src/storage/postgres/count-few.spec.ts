import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../test/support/test-storage.js';

const many = 10_050;

describe('the number of objects after a page', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;

  before(async () => {
    postgres = await startTestPostgres();
    const databaseUrl = await postgres.createTestDatabase();
    storage = await openTestStorage(databaseUrl);
    const admin = new pg.Client({ connectionString: databaseUrl });
    await admin.connect();
    const rows = (resource: string, count: number) =>
      admin.query(
        `insert into plinth.objects (resource, namespace, name, uid, resource_version, data)
         select $1, 'n', lpad(i::text, 6, '0'), i::text, 1, '{}' from generate_series(1, $2::int) i`,
        [resource, count],
      );
    await rows('few', 30);
    await rows('many', many);
    await admin.end();
  });
  after(async () => {
    await storage?.stop();
    await postgres?.stop();
  });

  const page = (resource: string, countRemaining: true | 'few', name?: string, at?: bigint) =>
    storage.list({
      resource,
      limit: 10,
      countRemaining,
      at,
      after: name === undefined ? undefined : { namespace: 'n', name },
    });

  it('is exact for few objects', async () => {
    assert.equal((await page('few', 'few')).remaining, 20);
    assert.equal((await page('few', 'few', '000010')).remaining, 10);
    assert.equal((await page('few', 'few', '000020')).remaining, 0);
  });

  it('is exact for all who want to wait', async () => {
    assert.equal((await page('many', true)).remaining, many - 10);
  });

  it('is missing for many objects until it is known, and then known of the pages that follow', async () => {
    const first = await page('many', 'few', '000005');
    assert.equal(first.remaining, undefined);
    assert.equal(first.more, true);
    const at = first.resourceVersion;
    const patience = performance.now() + 120_000;
    let second = await page('many', 'few', '000015', at);
    while (second.remaining === undefined) {
      assert.ok(performance.now() < patience);
      await delay(10);
      second = await page('many', 'few', '000015', at);
    }
    assert.equal(second.remaining, many - 25);
    assert.equal((await page('many', 'few', '000005', at)).remaining, many - 15);
    assert.equal((await page('many', 'few', '000025', at)).remaining, many - 35);
  });
});
