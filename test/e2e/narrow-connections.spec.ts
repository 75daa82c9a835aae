import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectionWindow, RawHttp2 } from './support/raw-http2.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const text = 'x'.repeat(60_000);
let cluster: TestCluster;
let server: TestServer;

before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
  server = cluster.first;
  const made = await server.client.post(configMaps, { metadata: { name: 'long' }, data: { text } });
  assert.equal(made.status, 201);
});

after(() => cluster.stop());

const connect = (options: { streamWindow?: number; readsConnection?: boolean } = {}) =>
  RawHttp2.connect(server.url, cluster.pki.authority, tokens.admin, options);

async function openWatches(): Promise<number> {
  const { text: metrics } = await server.client.get('/metrics');
  const found = /^apiserver_longrunning_requests\{[^}]*verb="WATCH"[^}]*resource="configmaps"[^}]*\} (\d+)$/m.exec(
    metrics,
  );
  return Number(found?.[1] ?? 0);
}

describe('HTTP/2 clients that let little be sent at a time', () => {
  it('get every answer with its end, also when others use up the window of the connection', async () => {
    const connection = await connect();
    const answers = Array.from({ length: 60 }, () => connection.get(`${configMaps}/long`));
    for (const answer of answers) {
      await answer.ended();
      assert.equal(answer.end, 'complete');
      assert.equal(JSON.parse(answer.body.toString()).data.text, text);
    }
    connection.close();
  });

  it('get every refusal with its end, too, though nobody wants what they send', async () => {
    const connection = await connect({ readsConnection: false });
    const long = [connection.get(`${configMaps}/long`), connection.get(`${configMaps}/long`)] as const;
    const received = () => long[0].length + long[1].length;
    await long[0].until(() => received() >= text.length);
    await long[1].until(() => received() === connectionWindow);
    connection.reset(long[1].stream, 8);
    const json = { 'content-type': 'application/json' };
    const refusals = [
      { code: 404, answer: connection.post('/api/v1/namespaces/default/nothings', json, '{}') },
      { code: 401, answer: connection.post(configMaps, { ...json, authorization: 'Bearer nobody' }, '{}') },
      // A body with a length that is too large, which is never sent.
      { code: 413, answer: connection.post(configMaps, { ...json, 'content-length': '100000000' }, '{', false) },
    ];
    for (const { answer } of refusals) await answer.until(() => answer.hasHead);
    // Byte by byte, so that no bytes are left for the end of any response.
    while (refusals.some(({ answer }) => answer.end === undefined)) {
      connection.widen(0, 1);
      await connection.pong();
    }
    for (const { answer, code } of refusals) {
      assert.equal(answer.end, 'complete', String(code));
      assert.equal(JSON.parse(answer.body.toString()).code, code);
    }
    connection.close();
  });

  it('are reset when they go on to send what nobody wants', async () => {
    const connection = await connect();
    const answer = connection.post(configMaps, { 'content-length': '100000000' }, 'x', false);
    const { stream } = await answer.ended();
    assert.equal(answer.end, 'complete');
    while (!connection.resets.has(stream)) {
      connection.sendBody(stream, 'x'.repeat(16_000));
      await connection.pong();
    }
    connection.close();
  });

  for (const code of [0, 8]) {
    it(`end a watch that they do not read by resetting it with code ${code}`, async () => {
      const connection = await connect({ streamWindow: 100 });
      const watch = connection.get(`${configMaps}?watch=1`);
      await watch.until(() => watch.length === 100);
      assert.equal(await openWatches(), 1);
      connection.reset(watch.stream, code);
      await eventually(async () => (await openWatches()) === 0, 'the watch to end');
      connection.close();
    });
  }
});
