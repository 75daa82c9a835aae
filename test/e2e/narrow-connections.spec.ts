import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RawHttp2 } from './support/raw-http2.js';
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

  for (const code of [0, 8]) {
    it(`end a watch that they do not read by resetting it with code ${code}`, async () => {
      const connection = await connect({ streamWindow: 100 });
      const watch = connection.get(`${configMaps}?watch=1`);
      while (watch.length < 100) await new Promise<void>((resolve) => (watch.onChange = resolve));
      assert.equal(await openWatches(), 1);
      connection.reset(watch.stream, code);
      await eventually(async () => (await openWatches()) === 0, 'the watch to end');
      connection.close();
    });
  }
});
