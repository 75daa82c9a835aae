import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
const path = '/api/v1/namespaces/default/configmaps';

before(async () => {
  cluster = await TestCluster.start({ servers: 2, fsync: true });
});

after(() => cluster.stop());

/** Also succeeds if an attempt created the object and lost the response with its connection. */
async function isMade(name: string): Promise<boolean> {
  const { status } = await cluster.first.client.post(path, { metadata: { name } });
  return status === 201 || status === 409;
}

describe('a database that goes away', () => {
  it('turns writes into 503 or 504, loses none that was acknowledged, and heals by itself', async () => {
    const acknowledged = new Set<string>();
    const refused = new Set<string>();
    const codes = new Map<number, number>();
    let running = true;
    let counter = 0;
    const writer = async (server: number) => {
      while (running) {
        const name = `w${counter++}`;
        const client = cluster.servers[server]?.client;
        const answer = await client?.post(path, { metadata: { name } }).catch(() => undefined);
        if (answer === undefined) continue;
        codes.set(answer.status, (codes.get(answer.status) ?? 0) + 1);
        if (answer.status === 201) acknowledged.add(name);
        else {
          assert.ok(answer.status === 503 || answer.status === 504, answer.text);
          assert.equal(answer.body.kind, 'Status');
          if (answer.status === 503) refused.add(name);
        }
      }
    };
    const writers = [0, 0, 0, 1, 1, 1].map(writer);
    await eventually(() => acknowledged.size > 100, 'writes before the outage');
    await cluster.postgres.shutDown('immediate');
    await eventually(() => (codes.get(503) ?? 0) + (codes.get(504) ?? 0) > 0, 'refusals during the outage', 30_000);
    const ready = await eventually(async () => {
      const answer = await cluster.first.client.get('/readyz');
      return answer.status === 500 && answer;
    }, 'readiness to fail');
    assert.match(ready.text, /\[-\]etcd failed/);
    assert.equal((await cluster.first.client.get('/livez')).status, 200);

    const before = acknowledged.size;
    await cluster.postgres.startAgain();
    await eventually(() => acknowledged.size > before + 100, 'writes after the outage', 60_000);
    running = false;
    await Promise.all(writers);

    for (const server of cluster.servers) {
      await eventually(async () => (await server.client.get('/readyz')).status === 200, 'readiness after the outage');
    }
    const { body } = await cluster.first.client.get(path);
    const present = new Set<string>(body.items.map((i: { metadata: { name: string } }) => i.metadata.name));
    const lost = [...acknowledged].filter((name) => !present.has(name));
    assert.deepEqual(lost, [], 'acknowledged writes that are gone');
    const undead = [...refused].filter((name) => present.has(name));
    assert.deepEqual(undead, [], 'writes refused with 503 that are there');
  });

  it('lets watches go on over the outage without a gap', async () => {
    const start = (await cluster.second.client.get(path)).body.metadata.resourceVersion;
    const watch = await cluster.second.client.watch(`${path}?watch=1&resourceVersion=${start}`);
    await cluster.first.client.post(path, { metadata: { name: 'before-restart' } });
    await cluster.postgres.shutDown('fast');
    await cluster.postgres.startAgain();
    await eventually(() => isMade('after-restart'), 'a write after the restart', 30_000);
    const events = await watch.take(2, 30_000);
    assert.deepEqual(
      events.map((e) => e.object.metadata.name),
      ['before-restart', 'after-restart'],
    );
    watch.close();
  });

  it('lets watches start from a version in memory', async () => {
    const { client } = cluster.second;
    const from = (await client.get(path)).body.metadata.resourceVersion;
    // An open watch keeps the following changes in memory.
    const standing = await client.watch(`${path}?watch=1&resourceVersion=${from}`);
    const made = await cluster.first.client.post(path, { metadata: { name: 'before-the-watch' } });
    assert.equal((await standing.next())?.object.metadata.name, 'before-the-watch');
    await cluster.postgres.shutDown('immediate');
    const begun = await client.watch(`${path}?watch=1&resourceVersion=${from}`);
    assert.equal(begun.status, 200);
    assert.equal((await begun.next())?.object.metadata.name, 'before-the-watch');
    const listed = await client.get(`${path}?resourceVersion=0`);
    assert.equal(listed.status, 200, listed.text);
    // Whether this version exists is unknown.
    const ahead = await client.get(
      `${path}?watch=1&resourceVersion=${BigInt(made.body.metadata.resourceVersion) + 50n}`,
    );
    assert.equal(ahead.status, 503, ahead.text);
    assert.equal(ahead.body.reason, 'ServiceUnavailable');
    await cluster.postgres.startAgain();
    await eventually(() => isMade('after-the-watch'), 'a write after the restart', 30_000);
    for (const watch of [standing, begun]) {
      assert.equal((await watch.next(30_000))?.object.metadata.name, 'after-the-watch');
      watch.close();
    }
  });
});

describe('a server that starts while the database is away', () => {
  for (const workers of [1, 2]) {
    it(`answers probes that it is not ready, and serves once the database is back (workers: ${workers})`, async () => {
      const flags = [`--workers=${workers}`, '--livez-grace-period=10m'];
      await cluster.postgres.shutDown('immediate');
      const server = await cluster.addServer(undefined, flags, 500);
      const anybody = cluster.clientFor(server);
      const ready = await anybody.get('/readyz');
      assert.match(ready.text, /^\[\+\]ping ok$/m);
      assert.match(ready.text, /^\[-\]poststarthook\/bootstrap-controller failed: reason withheld$/m);
      assert.match(ready.text, /^\[-\]etcd failed: reason withheld$/m);
      assert.equal((await anybody.get('/livez')).text, 'ok');
      assert.equal((await anybody.get('/readyz/ping')).status, 200);
      assert.equal((await anybody.get('/readyz/etcd')).status, 500);

      const refused = await server.client.get(path);
      assert.equal(refused.status, 503);
      assert.equal(refused.headers['retry-after'], '1');
      assert.equal(refused.body.kind, 'Status');
      assert.equal(refused.body.reason, 'ServiceUnavailable');
      const write = await server.client.post(path, { metadata: { name: `early-${workers}` } });
      assert.equal(write.status, 503);

      await cluster.postgres.startAgain();
      const isReady = async () => (await server.client.get('/readyz').catch(() => undefined))?.status === 200;
      await eventually(isReady, 'the server to be ready');
      assert.equal((await server.client.get(`${path}/early-${workers}`)).status, 404);
      for (const other of cluster.servers) {
        await eventually(async () => (await other.client.get('/readyz')).status === 200, 'readiness after the outage');
      }
      cluster.servers.splice(cluster.servers.indexOf(server), 1);
      await server.stop();
    });
  }
});
