import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as httpsGet } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Http2Client, responseOf } from './support/http2-client.js';
import { ProtobufClient, protobuf } from './support/protobuf-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const path = '/api/v1/namespaces/default/configmaps';
const filler = 'the same text again and again, '.repeat(12);
let cluster: TestCluster;
let bytes: ProtobufClient;
let two: Http2Client;
/** Lists are requested at one version, because other writes may come in between. */
let version: string;

before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
  const { client } = cluster.first;
  bytes = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);
  two = await Http2Client.connect(cluster.first.url, cluster.pki.authority, tokens.admin);
  const create = async (from: number) => {
    for (let i = from; i < 1200; i += 8) {
      const name = `c${String(i).padStart(4, '0')}`;
      const created = await client.post(path, {
        metadata: { name, labels: { half: String(i % 2) } },
        data: { filler },
      });
      assert.equal(created.status, 201);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, i) => create(i)));
  const big = await client.post(path, { metadata: { name: 'big' }, data: { a: 'x'.repeat(200_000) } });
  assert.equal(big.status, 201);
  version = big.body.metadata.resourceVersion;
});

after(async () => {
  await two.close();
  await cluster.stop();
});

/** Long reads, one for each way in which responses are written. */
const long: readonly (readonly [what: string, path: string, accept: string])[] = [
  ['one object', `${path}/big`, 'application/json'],
  ['one object, indented', `${path}/big?pretty=true`, 'application/json'],
  ['a list', path, 'application/json'],
  ['a page of a list', `${path}?limit=500`, 'application/json'],
  ['a list by label', `${path}?labelSelector=half=1`, 'application/json'],
  ['a list in YAML', path, 'application/yaml'],
  ['a list in protobuf', path, protobuf],
  ['a table', path, 'application/json;as=Table;v=v1;g=meta.k8s.io'],
];

/** The path of a list, at the one version. */
function fixed(target: string): string {
  if (target.startsWith(`${path}/`)) return target;
  return `${target}${target.includes('?') ? '&' : '?'}resourceVersion=${version}&resourceVersionMatch=Exact`;
}

/** A table without the ages of its objects, which may be a second older in the next one. */
function tableOf(answer: Buffer): unknown {
  const table = JSON.parse(answer.toString());
  const age = table.columnDefinitions.findIndex(({ name }: { name: string }) => name === 'Age');
  assert.ok(age > 0);
  for (const { cells } of table.rows) assert.match(cells.splice(age, 1)[0], /^\d+[smh]/);
  return table;
}

describe('long answers to reads', () => {
  for (const [what, unfixed, accept] of long) {
    it(`${what}: compressed for those who take it, in both HTTP versions, and the same as without`, async () => {
      const target = fixed(unfixed);
      const plain = await bytes.send('GET', target, { accept });
      assert.equal(plain.status, 200);
      assert.ok(plain.bytes.length > 128 * 1024);
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.equal(plain.headers.vary, 'Accept-Encoding');
      const headers = { 'accept-encoding': 'deflate, gzip;q=0.8' };
      const one = await bytes.send('GET', target, { accept, headers });
      const over2 = await two.send('GET', target, { accept, ...headers });
      for (const answer of [one, { ...over2, bytes: over2.body }]) {
        assert.equal(answer.headers['content-encoding'], 'gzip');
        assert.equal(answer.headers.vary, 'Accept-Encoding');
        assert.equal(answer.headers['content-type'], plain.headers['content-type']);
        assert.ok(answer.bytes.length * 5 < plain.bytes.length);
        const unpacked = gunzipSync(answer.bytes);
        if (accept.startsWith('application/json')) {
          // Only indented JSON ends with its brace.
          for (const text of [unpacked, plain.bytes]) {
            assert.match(text.subarray(-2).toString(), what.includes('indented') ? /^\n\}$/ : /^\}\n$/);
          }
        }
        // The position of a list's metadata is not fixed.
        if (accept === 'application/json') {
          assert.deepEqual(JSON.parse(unpacked.toString()), JSON.parse(plain.bytes.toString()));
        } else if (accept.includes('as=Table')) {
          assert.deepEqual(tableOf(unpacked), tableOf(plain.bytes));
        } else assert.ok(unpacked.equals(plain.bytes));
        const length = answer.headers['content-length'];
        if (length !== undefined) assert.equal(Number(length), answer.bytes.length);
      }
    });

    it(`${what}: HEAD has the headers and no body`, async () => {
      const target = fixed(unfixed);
      const headers = { 'accept-encoding': 'gzip' };
      const one = await bytes.send('HEAD', target, { accept, headers });
      const over2 = await two.send('HEAD', target, { accept, ...headers });
      assert.equal(one.bytes.length + over2.body.length, 0);
      for (const answer of [one, over2]) {
        assert.equal(answer.status, 200);
        assert.equal(answer.headers['content-encoding'], 'gzip');
        assert.equal(answer.headers['content-length'], undefined);
      }
    });
  }
});

describe('lists that share compressed objects', () => {
  const inside = '/api/v1/namespaces/shared/configmaps';
  const headers = { 'accept-encoding': 'gzip' };
  const queries = [
    '',
    '?limit=300',
    '?limit=299',
    '?labelSelector=third=1',
    '?labelSelector=third!=2',
    '?resourceVersion=0',
  ];
  const created = (answer: { status: number; text: string }) => assert.ok(answer.status < 300, answer.text);
  const merge = 'merge';
  const object = (i: number) => ({
    metadata: { name: `s${String(i).padStart(4, '0')}`, labels: { third: String(i % 3) } },
    data: { filler, i: String(i), umlauts: 'äöü€😀' },
  });

  /** Compares each list in JSON and protobuf, compressed twice, with the uncompressed one of the same version. */
  async function compareAll(): Promise<void> {
    for (const accept of ['application/json', protobuf]) {
      for (const query of queries) {
        for (let round = 0; round < 2; round++) {
          const packed = await bytes.send('GET', `${inside}${query}`, { accept, headers });
          assert.equal(packed.headers['content-encoding'], 'gzip', query);
          const plain = await bytes.send('GET', `${inside}${query}`, { accept });
          assert.equal(plain.headers['content-encoding'], undefined);
          // The version of a list, also in its continue token, may be a newer one: control loops write.
          const items = (body: Buffer) =>
            accept === protobuf
              ? body.subarray(body.indexOf('s000'))
              : JSON.stringify(JSON.parse(body.toString()).items);
          assert.deepEqual(items(gunzipSync(packed.bytes)), items(plain.bytes), `${accept} ${query}`);
        }
      }
    }
  }

  it('are the same as uncompressed ones, before and after objects changed, came and went', async () => {
    const { client } = cluster.first;
    created(await client.post('/api/v1/namespaces', { metadata: { name: 'shared' } }));
    for (let i = 0; i < 900; i += 30) {
      await Promise.all(Array.from({ length: 30 }, async (_, n) => created(await client.post(inside, object(i + n)))));
    }
    await compareAll();
    created(await client.patch(`${inside}/s0401`, merge, { data: { changed: 'yes' } }));
    await compareAll();
    created(await client.delete(`${inside}/s0400`));
    created(await client.post(inside, object(9_001)));
    created(await client.patch(`${inside}/s0002`, merge, { metadata: { labels: { third: '1' } } }));
    await compareAll();
  });
});

describe('not compressed', () => {
  const headers = { 'accept-encoding': 'gzip' };

  it('are short answers', async () => {
    for (const target of [`${path}/c0001`, `${path}?limit=10&labelSelector=half=1`]) {
      const { status, headers: got } = await bytes.send('GET', target, { accept: 'application/json', headers });
      assert.equal(status, 200);
      assert.equal(got['content-encoding'], undefined);
      assert.ok(Number(got['content-length']) > 0);
    }
  });

  it('are answers to writes', async () => {
    const { body } = await cluster.first.client.get(`${path}/big`);
    const put = await bytes.send('PUT', `${path}/big`, {
      accept: 'application/json',
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(body)),
      headers,
    });
    assert.equal(put.status, 200);
    assert.equal(put.headers['content-encoding'], undefined);
    assert.ok(put.bytes.length > 128 * 1024);
  });

  it('are watches', async () => {
    const watch = await cluster.first.client.watch(`${path}?watch=true&fieldSelector=metadata.name=big`, { headers });
    const event = await watch.next();
    assert.equal(event?.object.metadata.name, 'big');
    watch.close();
  });

  it('is what the client refuses to take compressed', async () => {
    for (const encoding of ['gzip;q=0', 'br', 'identity, gzip;q=0.1']) {
      const answer = await bytes.send('GET', path, {
        accept: 'application/json',
        headers: { 'accept-encoding': encoding },
      });
      assert.equal(answer.headers['content-encoding'], undefined, encoding);
      assert.equal(JSON.parse(answer.bytes.toString()).items.length, 1201);
    }
  });
});

describe('a client that leaves in the middle', () => {
  it('frees the request and hurts nobody', async () => {
    const { process, client } = cluster.first;
    for (const encoding of ['gzip', 'identity']) {
      for (let i = 0; i < 10; i++) {
        const stream = two.open('GET', path, { 'accept-encoding': encoding });
        await responseOf(stream);
        stream.close();
        const request = httpsGet(`${cluster.first.url}${path}`, {
          ca: cluster.pki.authority,
          headers: { authorization: `Bearer ${tokens.admin}`, 'accept-encoding': encoding },
        });
        await once(request, 'response');
        request.destroy();
      }
    }
    await eventually(async () => {
      const { text } = await client.get('/metrics');
      // The scrape itself counts as one.
      return /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1\n/.test(text);
    }, 'the requests to be over');
    assert.equal(process.exitCode, null);
    assert.equal((await two.send('GET', '/livez')).status, 200);
  });
});
