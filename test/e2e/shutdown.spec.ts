import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { Http2Client, responseOf } from './support/http2-client.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
let cluster: TestCluster;

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
});

after(() => cluster.stop());

/** A server that the test itself stops. */
async function start(flags: readonly string[] = []): Promise<TestServer> {
  const server = await cluster.addServer(undefined, flags);
  cluster.servers.splice(cluster.servers.indexOf(server), 1);
  return server;
}

function connect(server: TestServer): Promise<Http2Client> {
  return Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
}

/** Sends the signal and returns the exit code once the process has ended. */
function terminate(server: TestServer): Promise<number | null> {
  const ended = once(server.process, 'exit').then(([code]) => code as number | null);
  server.process.kill('SIGTERM');
  return ended;
}

/** The newest of all writes: the process writes by itself too, such as its lease. */
async function newestVersion(): Promise<bigint> {
  const client = new pg.Client({ connectionString: cluster.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ newest: string }>(
      'select max(resource_version) as newest from plinth.changes',
    );
    return BigInt(rows[0]?.newest ?? 0);
  } finally {
    await client.end();
  }
}

function begin(server: TestServer, agent: Agent, method: string, path: string, length?: number): ClientRequest {
  const headers: Record<string, string | number> = { authorization: `Bearer ${tokens.admin}` };
  if (length !== undefined) Object.assign(headers, { 'content-type': 'application/json', 'content-length': length });
  return httpsRequest(`${server.url}${path}`, { method, agent, ca: cluster.pki.authority, headers });
}

async function answer(request: ClientRequest): Promise<{ message: IncomingMessage; text: string }> {
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return { message, text: Buffer.concat(chunks).toString() };
}

async function stopping(server: TestServer): Promise<void> {
  await eventually(() => / stopping /.test(server.log), 'the server to stop');
}

/** This many uploads have arrived: a connection that is not accepted yet when the server stops is only closed. */
async function uploading(server: TestServer, count: number): Promise<void> {
  const metric = new RegExp(`apiserver_current_inflight_requests\\{request_kind="mutating"\\} ${count}\\b`);
  await eventually(async () => metric.test((await server.client.get('/metrics')).text), 'the uploads to have arrived');
}

/** The server accepts no more connections. */
async function draining(server: TestServer): Promise<void> {
  await eventually(async () => {
    const client = cluster.clientFor(server);
    const refused = await client.get('/livez').then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
    );
    client.close();
    return refused;
  }, 'the port to be closed');
}

describe('a stop', () => {
  it('fails readiness first and goes on serving for the delay', async () => {
    const server = await start(['--shutdown-delay-duration=8s']);
    const two = await connect(server);
    const watch = await server.client.watch(`${configMaps}?watch=true&resourceVersion=0`);
    const ended = terminate(server);
    await stopping(server);
    const ready = await server.client.get('/readyz');
    assert.equal(ready.status, 500);
    assert.match(ready.text, /\[-\]shutdown failed/);
    assert.equal(ready.headers.connection, 'keep-alive');
    assert.equal((await two.send('GET', '/readyz')).status, 500);
    assert.equal((await two.send('GET', '/livez')).status, 200);
    // New connections and writes work too, and watches continue.
    const fresh = cluster.clientFor(server, { token: tokens.admin });
    const created = await fresh.post(configMaps, { metadata: { generateName: 'late-' } });
    assert.equal(created.status, 201);
    for (;;) {
      const event = await watch.next();
      assert.ok(event !== undefined, 'the watch ended too early');
      if (event.object.metadata.name === created.body.metadata.name) break;
    }
    fresh.close();
    server.client.close();
    await two.close();
    assert.equal(await ended, 0);
  });

  it('ends watches cleanly, with a last bookmark for those that asked, in both HTTP versions', async () => {
    const server = await start();
    const list = await server.client.get(configMaps);
    const query = `watch=true&resourceVersion=${list.body.metadata.resourceVersion}`;
    const two = await connect(server);
    const watches = [`${configMaps}?${query}&allowWatchBookmarks=true`, `${configMaps}?${query}`];
    const one = await Promise.all(watches.map((path) => server.client.watch(path)));
    const streams = watches.map((path) => two.open('GET', path));
    await Promise.all(streams.map(responseOf));
    const texts = streams.map(async (stream) => {
      let text = '';
      for await (const chunk of stream) text += (chunk as Buffer).toString();
      assert.equal(stream.rstCode, 0);
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    });
    const { body } = await server.client.post(configMaps, { metadata: { generateName: 'seen-' } });
    for (const watch of one) assert.equal((await watch.next())?.object.metadata.name, body.metadata.name);
    // A further change. These watches don't show it, but their bookmark does.
    await server.client.post('/api/v1/namespaces/default/secrets', { metadata: { generateName: 'n-' } });
    const goaway = once(two.session, 'goaway');
    const ended = terminate(server);
    const last = await one[0]?.next();
    assert.equal(last?.type, 'BOOKMARK');
    assert.ok(BigInt(last?.object.metadata.resourceVersion) >= BigInt(body.metadata.resourceVersion));
    assert.ok(BigInt(last?.object.metadata.resourceVersion) <= (await newestVersion()));
    assert.equal(await one[0]?.next(), undefined);
    assert.equal(await one[1]?.next(), undefined);
    const [marked, plain] = await Promise.all(texts);
    assert.deepEqual(
      marked?.map(({ type }) => type),
      ['ADDED', 'BOOKMARK'],
    );
    assert.deepEqual(
      plain?.map(({ type }) => type),
      ['ADDED'],
    );
    const [code] = await goaway;
    assert.equal(code, 0);
    server.client.close();
    assert.equal(await ended, 0);
  });

  it('lets uploads that are under way finish, and answers on kept connections until they close', async () => {
    const server = await start();
    const two = await connect(server);
    const agent = new Agent({ keepAlive: true });
    const body = JSON.stringify({ metadata: { name: 'slow-one' }, data: { a: 'b' } });
    const upload = begin(server, agent, 'POST', configMaps, body.length);
    const uploaded = answer(upload);
    upload.write(body.slice(0, 10));
    const stream = two.open('POST', configMaps, { 'content-type': 'application/json' }, false);
    const streamed = responseOf(stream);
    const second = JSON.stringify({ metadata: { name: 'slow-two' } });
    stream.write(second.slice(0, 10));
    // A connection that is open and idle when the drain begins, and used during it.
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const warm = begin(server, kept, 'GET', '/livez');
    warm.end();
    assert.equal((await answer(warm)).message.headers.connection, 'keep-alive');
    await uploading(server, 2);
    const ended = terminate(server);
    const late = eventually(async () => {
      if (!/ stopping /.test(server.log)) return false;
      const request = begin(server, kept, 'GET', `${configMaps}?limit=1`);
      request.end();
      const { message } = await answer(request);
      assert.equal(message.statusCode, 200);
      return message.headers.connection === 'close';
    }, 'an answer that closes its connection');
    await late;
    await draining(server);
    upload.end(body.slice(10));
    stream.end(second.slice(10));
    const { message } = await uploaded;
    assert.equal(message.statusCode, 201);
    assert.equal((await streamed)[':status'], 201);
    server.client.close();
    assert.equal(await ended, 0);
    agent.destroy();
    kept.destroy();
    await two.close();
    // Every acknowledged write was committed.
    const check = await start();
    for (const name of ['slow-one', 'slow-two']) {
      assert.equal((await check.client.get(`${configMaps}/${name}`)).status, 200);
    }
    await check.stop();
  });

  it('refuses new watches on kept connections with a 503 that says when to come again', async () => {
    const server = await start();
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const holding = begin(server, new Agent(), 'POST', configMaps, 100);
    holding.on('error', () => undefined);
    holding.write('{');
    await uploading(server, 1);
    const warm = begin(server, kept, 'GET', '/livez');
    warm.end();
    await answer(warm);
    const ended = terminate(server);
    await draining(server);
    const watch = begin(server, kept, 'GET', `${configMaps}?watch=true`);
    watch.end();
    const { message, text } = await answer(watch);
    assert.equal(message.statusCode, 503);
    assert.equal(message.headers['retry-after'], '1');
    assert.equal(message.headers.connection, 'close');
    assert.equal(JSON.parse(text).reason, 'ServiceUnavailable');
    holding.destroy();
    server.client.close();
    kept.destroy();
    assert.equal(await ended, 0);
  });

  it('does not wait for ever for an upload that never ends', async () => {
    const server = await start(['--request-timeout=5s']);
    const stuck = begin(server, new Agent(), 'POST', configMaps, 100);
    const answered = answer(stuck);
    stuck.write('{');
    await uploading(server, 1);
    server.client.close();
    const ended = terminate(server);
    const { message } = await answered;
    assert.equal(message.statusCode, 504);
    assert.equal(await ended, 0);
  });

  it('does not wait for a client that does not read the end of its watch', async () => {
    const server = await start(['--request-timeout=3s']);
    const watch = begin(server, new Agent(), 'GET', `${configMaps}?watch=true`);
    watch.end();
    const [message] = (await once(watch, 'response')) as [IncomingMessage];
    message.socket.pause();
    server.client.close();
    assert.equal(await terminate(server), 0);
    message.destroy();
  });

  it('is immediate on a second signal', async () => {
    const server = await start(['--shutdown-delay-duration=60s']);
    const ended = once(server.process, 'exit');
    server.process.kill('SIGTERM');
    await stopping(server);
    // The same signal within a second may be passed on twice, so it counts once.
    await eventually(() => {
      server.process.kill('SIGTERM');
      return server.process.exitCode !== null || server.process.signalCode !== null;
    }, 'the process to end');
    assert.equal((await ended)[0], 143);
    server.client.close();
  });
});
