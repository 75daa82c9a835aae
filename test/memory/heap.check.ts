import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { residentBytes } from '../e2e/support/processes.js';
import { TestCluster, type TestServer } from '../e2e/support/test-cluster.js';

/*
 * A server whose objects are more than its heap can hold, whatever `--watch-cache-max-bytes` says: it continues to
 * serve from the database. `npm run check:heap`
 */
const heapMebibytes = 192;
const objects = 15_000;
const textBytes = 20_000;
const perBatch = 500;
const path = '/api/v1/namespaces/default/configmaps';

describe('a server with more objects than its heap has room for', () => {
  let cluster: TestCluster;
  let server: TestServer;

  before(async () => {
    cluster = await TestCluster.start({
      servers: 1,
      nodeFlags: [`--max-old-space-size=${heapMebibytes}`],
      flags: [`--watch-cache-max-bytes=${2 ** 32}`],
    });
    server = cluster.first;
    const data = { filling: 'x'.repeat(textBytes) };
    const made = await server.client.post(path, { metadata: { name: 'o', labels: { o: 'o' } }, data });
    assert.equal(made.status, 201, made.text);
    const admin = new pg.Client({ connectionString: cluster.databaseUrl });
    await admin.connect();
    for (let from = 0; from < objects; from += perBatch) {
      // Copies of what the server has stored, by the function that it writes with.
      await admin.query(
        `with made as (
          select i, 'o-' || lpad(i::text, 6, '0') as name, gen_random_uuid()::text as uid, o.uid as old, o.data::text as data
          from generate_series($2::int, $3::int) i, plinth.objects o
          where o.resource = 'configmaps' and o.namespace = 'default' and o.name = 'o')
        select count(*) from (select array_agg(0::smallint) as ops, array_agg('configmaps'::text) as resources,
          array_agg('default'::text) as namespaces, array_agg(name) as names, array_agg(uid) as uids,
          array_agg(null::bigint) as versions,
          array_agg(replace(replace(data, old, uid), '"name":"o"', '"name":"' || name || '"')) as texts from made) m
        cross join lateral plinth.write_batch(null, $1, ops, null, resources, namespaces, names, uids, versions, texts,
          null, null, null, true) w`,
        [String(Date.now() * 1000 + from), from, from + perBatch - 1],
      );
    }
    await admin.end();
  });
  after(() => cluster?.stop());

  const drops = async () => {
    const { text } = await server.client.get('/metrics');
    const [, count] =
      /^plinth_watch_cache_drops_total\{[^}]*resource="configmaps",reason="budget"[^}]*\} (\d+)/m.exec(text) ?? [];
    return Number(count ?? 0);
  };

  it('serves them from the database, and does not die of its cache', async () => {
    const first = await server.client.get(`${path}?limit=1`);
    assert.equal(first.status, 200);
    const patience = performance.now() + 120_000;
    while ((await drops()) === 0) {
      assert.equal(server.process.exitCode, null, server.log.slice(-2_000));
      assert.ok(performance.now() < patience, 'the cache is given up');
      await delay(100);
    }
    assert.match(server.log, /--watch-cache-max-bytes is more than the heap can hold/);
    let count = 0;
    let token = '';
    do {
      const page = await server.client.get(`${path}?limit=${perBatch}${token}`);
      assert.equal(page.status, 200, page.text.slice(0, 1_000));
      count += page.body.items.length;
      const next = page.body.metadata.continue;
      token = next ? `&continue=${next}` : '';
    } while (token !== '');
    assert.equal(count, objects + 1);
    const labelled = await server.client.get(`${path}?labelSelector=o%3Do&limit=10`);
    assert.equal(labelled.body.items.length, 10);
    const written = await server.client.post(path, { metadata: { name: 'p' } });
    assert.equal(written.status, 201, written.text);
    assert.equal(server.process.exitCode, null);
    process.stdout.write(`resident ${Math.round(residentBytes(server.process.pid as number) / 2 ** 20)} MiB\n`);
  });
});
