import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ApiClient } from './support/api-client.js';
import { growsInThread, throwsInThread } from './support/large-request-fault.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const path = '/api/v1/namespaces/default/configmaps';
/** Enough small values to go to another thread. */
const data = Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`k${i}`, 'value']));

let cluster: TestCluster;
before(async () => {
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS ?? ''} --import=${new URL('./support/large-request-fault.js', import.meta.url)}`;
  try {
    cluster = await TestCluster.start({ servers: 1, flags: ['--workers=2'] });
  } finally {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
  }
});
after(() => cluster?.stop());

const configMap = (name: string, text = '') => ({ metadata: { name, annotations: { text } }, data });

/** On connections of their own, so that all processes get some. */
async function each<T>(count: number, use: (client: ApiClient, i: number) => Promise<T>): Promise<T[]> {
  const clients = Array.from(
    { length: count },
    () => new ApiClient(cluster.first.url, { ca: cluster.pki.authority, token: tokens.admin }),
  );
  try {
    return await Promise.all(clients.map(use));
  } finally {
    for (const client of clients) client.close();
  }
}

describe('requests about large objects', () => {
  it('are answered by every process', async () => {
    const answers = await each(12, (client, i) => client.post(path, configMap(`many-${i}`)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    const read = await each(12, (client, i) => client.get(`${path}/many-${i}?pretty=true`));
    assert.deepEqual([...new Set(read.map(({ body }) => Object.keys(body.data).length))], [8_000]);
  });

  for (const fault of [throwsInThread, growsInThread]) {
    it(`fail alone when they ${fault}, and the next ones find another thread`, async () => {
      const name = fault.replaceAll(' ', '-');
      await each(1, async (client) => {
        const { status, body } = await client.post(path, configMap(name, fault));
        assert.deepEqual([status, body.kind, body.reason], [504, 'Status', 'Timeout']);
        assert.equal((await client.get('/livez')).status, 200);
        // The same connection, so the same process.
        assert.equal((await client.post(path, configMap(`${name}-next`))).status, 201);
      });
      assert.equal(cluster.first.process.exitCode, null);
      const reported = /the thread for large requests ended/;
      await eventually(() => reported.test(cluster.first.log), 'a word in the log');
      assert.doesNotMatch(cluster.first.log, /worker .*(ended|exited)/);
    });
  }
});
