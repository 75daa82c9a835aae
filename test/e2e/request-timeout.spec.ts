import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
});

after(() => cluster?.stop());

describe('the timeout that a client gives a request', () => {
  const refused: readonly (readonly [text: string, problem: string])[] = [
    ['invalid', 'time: invalid duration "invalid"'],
    ['1', 'time: missing unit in duration "1"'],
    ['1s5', 'time: missing unit in duration "1s5"'],
    ['3x', 'time: unknown unit "x" in duration "3x"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
  ];
  for (const [text, problem] of refused) {
    it(`is a 400 when it is ${JSON.stringify(text)}`, async () => {
      for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/default', '/version']) {
        const answer = await client.get(`${path}?timeout=${text}`);
        assert.deepEqual(
          [answer.status, answer.body.reason, answer.body.message],
          [400, 'BadRequest', `invalid timeout specified in the request URL - ${problem}`],
        );
      }
      const made = await client.post(`/api/v1/namespaces?timeout=${text}`, { metadata: { name: 'never' } });
      assert.equal(made.status, 400);
      assert.equal((await client.get('/api/v1/namespaces/never')).status, 404);
    });
  }

  it('may be none, negative or long', async () => {
    for (const text of ['', '0', '-1s', '999h', '1m30s']) {
      assert.equal((await client.get(`/api/v1/namespaces?timeout=${text}`)).status, 200, text);
    }
  });

  it('means nothing for a watch', async () => {
    const stream = await client.watch('/api/v1/namespaces?watch=1&timeout=invalid');
    assert.equal(stream.status, 200);
    stream.close();
  });
});
