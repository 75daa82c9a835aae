import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Http2Client, responseOf } from './support/http2-client.js';
import { ProtobufClient } from './support/protobuf-client.js';
import { TestCluster, tokens } from './support/test-cluster.js';

/*
 * Long lists are put together in memory that is used again for other answers as soon as they were sent. Each namespace has
 * texts of its own here, so an answer that got bytes of another one is noticed.
 */
const namespaces = ['a', 'b', 'c', 'd', 'e', 'f'];
const objects = 80;
let cluster: TestCluster;

const path = (namespace: string) => `/api/v1/namespaces/blocks-${namespace}/configmaps`;
/** 3 to 30 KB for each object, some of it not in ASCII, so that texts end anywhere in a block. */
const textOf = (namespace: string, i: number) => `${namespace}${i}é€😀`.repeat(100 + ((i * 37) % 900));

before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
  const { client } = cluster.first;
  await Promise.all(
    namespaces.map(async (namespace) => {
      await client.post('/api/v1/namespaces', { metadata: { name: `blocks-${namespace}` } });
      for (let i = 0; i < objects; i++) {
        const created = await client.post(path(namespace), {
          metadata: { name: `c${i}`, labels: { part: String(i % 8) } },
          data: { text: textOf(namespace, i) },
        });
        assert.equal(created.status, 201);
      }
    }),
  );
});

after(() => cluster.stop());

/** Throws unless the answer is a whole list of the namespace, with the texts that were stored. */
function check(namespace: string, part: number | undefined, bytes: Buffer): void {
  const { items } = JSON.parse(bytes.toString()) as {
    items: { metadata: { name: string }; data: { text: string } }[];
  };
  const own = items.filter(({ metadata }) => metadata.name.startsWith('c'));
  assert.equal(own.length, part === undefined ? objects : objects / 8);
  for (const { metadata, data } of own) {
    const i = Number(metadata.name.slice(1));
    assert.ok(data.text === textOf(namespace, i), `text of ${namespace}/${metadata.name}`);
  }
}

describe('many long lists at one time', () => {
  it('each have their own bytes, though clients leave in the middle', async () => {
    const ca = cluster.pki.authority;
    const { url } = cluster.first;
    const one = new ProtobufClient(url, ca, tokens.admin);
    const two = await Http2Client.connect(url, ca, tokens.admin);
    const ask = async (turn: number) => {
      const namespace = namespaces[turn % namespaces.length] as string;
      // One part is some 130 KB and sent at once, all is 1.3 MB and sent in pieces.
      const part = turn % 3 === 0 ? undefined : turn % 8;
      const target = path(namespace) + (part === undefined ? '' : `?labelSelector=part%3D${part}`);
      const headers: Record<string, string> = turn % 2 === 0 ? { 'accept-encoding': 'gzip' } : {};
      if (turn % 5 === 0) {
        const stream = two.open('GET', target, headers);
        await responseOf(stream);
        stream.on('error', () => undefined);
        stream.destroy();
        return;
      }
      const answer =
        turn % 4 < 2
          ? await one.send('GET', target, { accept: 'application/json', headers })
          : await two
              .send('GET', target, { accept: 'application/json', ...headers })
              .then((got) => ({ ...got, bytes: got.body }));
      assert.equal(answer.status, 200);
      const isPacked = answer.headers['content-encoding'] === 'gzip';
      check(namespace, part, isPacked ? gunzipSync(answer.bytes) : answer.bytes);
    };
    let turn = 0;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (turn < 400) await ask(turn++);
      }),
    );
    await two.close();
  });
});
