import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { childrenOf } from './support/processes.js';
import { eventually, freePort, TestCluster, type TestServer } from './support/test-cluster.js';
import { follow, watch } from './support/watching.js';

const core = '/api/v1/namespaces/default';
const tableOf = (version: string) => `application/json;as=Table;g=meta.k8s.io;v=${version}`;
let cluster: TestCluster;
let server: TestServer;

/** Starts servers that fail on a signal. */
async function withFaults<T>(start: () => Promise<T>): Promise<T> {
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = `--import=${new URL('./support/fault-on-signal.js', import.meta.url)}`;
  try {
    return await start();
  } finally {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
  }
}

before(async () => {
  cluster = await withFaults(() => TestCluster.start({ servers: 1 }));
  server = cluster.first;
});

after(() => cluster.stop());

function assertRuns(): void {
  assert.equal(server.process.exitCode, null, server.log);
  assert.equal(server.process.signalCode, null, server.log);
  assert.doesNotMatch(server.log, /nobody|request failed/);
}

describe('no request ends the process', () => {
  it('with a table watch that gets bookmarks', async () => {
    for (const version of ['v1', 'v1beta1']) {
      const { body } = await server.client.get('/api/v1/pods');
      const reading = follow(
        (query) => watch(server.client, '/api/v1/pods', query, tableOf(version)),
        body.metadata.resourceVersion,
        (events) => events.length > 0,
      );
      const written = await server.client.post(`${core}/configmaps`, { metadata: { name: `elsewhere-${version}` } });
      assert.equal(written.status, 201, written.text);
      const [bookmark] = await reading;
      assert.equal(bookmark?.type, 'BOOKMARK');
      assert.equal(bookmark?.object.kind, 'Table');
    }
    assertRuns();
  });

  it('with the delete of a collection whose answer can not be made', async () => {
    const answer = await server.client.delete(`${core}/endpoints?dryRun=All&includeObject=x`, undefined, {
      headers: { accept: tableOf('v1') },
    });
    assert.ok(answer.status === 400 || answer.status === 200, answer.text);
    assert.equal((await server.client.get('/readyz')).status, 200);
    assertRuns();
  });

  it('with a throttled watch that ends while a bookmark waits', async () => {
    const slow = await withFaults(() => cluster.addServer(undefined, ['--max-connection-bytes-per-sec=1000']));
    const { body } = await slow.client.get(`${core}/configmaps`);
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=6&resourceVersion=${body.metadata.resourceVersion}`;
    const stream = await slow.client.watch(`${core}/configmaps?${query}`);
    // Uses more than eight seconds of the budget, so the next event waits beyond the end of the watch.
    const data = { text: 'x'.repeat(8000) };
    assert.equal((await slow.client.post(`${core}/configmaps`, { metadata: { name: 'long' }, data })).status, 201);
    assert.equal((await stream.next())?.type, 'ADDED');
    assert.equal((await slow.client.post(`${core}/secrets`, { metadata: { name: 'elsewhere' } })).status, 201);
    while ((await stream.next(30_000)) !== undefined);
    assert.equal((await slow.client.get('/readyz')).status, 200);
    assert.equal(slow.process.exitCode, null, slow.log);
  });
});

describe('a fault that nothing catches', () => {
  it('lets requests finish, then ends the process with an exit code that is not 0', async () => {
    const port = await freePort();
    const faulty = await withFaults(() => cluster.addServer(port, ['--shutdown-delay-duration=6s']));
    cluster.servers.splice(cluster.servers.indexOf(faulty), 1);
    const watch = await faulty.client.watch(`${core}/configmaps?watch=1&resourceVersion=0`);
    const exited = once(faulty.process, 'close');
    faulty.process.kill('SIGUSR2');
    await eventually(async () => (await faulty.client.get('/readyz')).status === 500, 'readiness to fail');
    assert.equal((await faulty.client.get(`${core}/configmaps`)).status, 200);
    while ((await watch.next()) !== undefined);
    assert.deepEqual(await exited, [1, null]);
    faulty.client.close();
    assert.match(faulty.log, /an exception that nobody caught.*thrown on purpose/);
    assert.match(faulty.log, /a rejection that nobody awaited.*rejected on purpose/);
    assert.match(faulty.log, /INFO +stopped/);
  });

  it('ends a worker, and another one takes its place', async () => {
    const shared = await withFaults(() => cluster.addServer(undefined, ['--workers=2']));
    const parent = shared.process.pid as number;
    const workers = await eventually(() => {
      const found = childrenOf(parent);
      return found.length === 2 ? found : undefined;
    }, 'two workers');
    const [victim] = workers;
    await eventually(() => shared.log.match(/ serving /g)?.length === 2, 'both to serve');
    process.kill(victim as number, 'SIGUSR2');
    await eventually(() => {
      const now = childrenOf(parent);
      return now.length === 2 && !now.includes(victim as number);
    }, 'another worker in its place');
    await eventually(() => /a worker ended and is restarted.*exit code 1/.test(shared.log), 'a word in the log');
    assert.equal((await shared.client.get('/readyz')).status, 200);
  });
});
