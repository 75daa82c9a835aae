import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { decodeCbor } from '../../src/base/machinery/cbor/index.js';
import { Random, testSeeds } from '../support/random.js';
import { cbor } from './support/cbor-client.js';
import { dial } from './support/connections.js';
import { Http2Client, responseOf } from './support/http2-client.js';
import { ProtobufClient } from './support/protobuf-client.js';
import { type RawAnswer, RawHttp2 } from './support/raw-http2.js';
import { TestCluster, tokens } from './support/test-cluster.js';

/**
 * Long lists are written into memory that is used again for other responses as soon as it was sent. Each namespace has
 * texts of its own here, so a response that contains bytes of another one is noticed.
 */
const namespaces = ['a', 'b', 'c', 'd', 'e', 'f'];
const objects = 80;
let cluster: TestCluster;

const path = (namespace: string) => `/api/v1/namespaces/blocks-${namespace}/configmaps`;
/** 3 to 30 KB for each object, some of it not in ASCII, so that texts end anywhere in a block. */
const textOf = (namespace: string, i: number) => `${namespace}${i}é€😀`.repeat(100 + ((i * 37) % 900));

before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: ['--feature-gates=CBORServingAndStorage=true'] });
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

/** Throws unless the response is a whole list of the namespace, with the stored texts. */
function check(namespace: string, part: number | undefined, bytes: Buffer, type = 'application/json'): void {
  const { items } = (type === cbor ? decodeCbor(bytes) : JSON.parse(bytes.toString())) as {
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
      // One part is about 130 KB and is sent at once; all of it is 1.3 MB and is sent in pieces.
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

interface List {
  readonly namespace: string;
  readonly part: number | undefined;
  readonly path: string;
}

/** Some are sent at once, others in pieces. */
function anyList(random: Random): List {
  const namespace = random.pick(namespaces);
  const part = random.chance(0.7) ? random.below(8) : undefined;
  return { namespace, part, path: path(namespace) + (part === undefined ? '' : `?labelSelector=part%3D${part}`) };
}

/**
 * Resets some streams at random times, reads others slowly or not at all, and disconnects. Checks the responses that it
 * reads to the end.
 */
async function attackOverTwo(random: Random): Promise<void> {
  const readsConnection = random.chance(0.7);
  const streamWindow = random.pick([0, 1000, 65_535, 2 ** 20]);
  const { url } = cluster.first;
  const connection = await RawHttp2.connect(url, cluster.pki.authority, tokens.admin, {
    readsConnection,
    streamWindow,
  });
  const reset = ({ stream }: RawAnswer) => connection.reset(stream, random.pick([0, 8]));
  const reading: Promise<void>[] = [];
  const unread: RawAnswer[] = [];
  for (let i = 0; i < 12; i++) {
    const { namespace, part, path } = anyList(random);
    const answer = connection.get(path);
    const fate = random.pick(['reset now', 'reset later', 'leave unread', 'read'] as const);
    if (fate === 'reset now') reset(answer);
    else if (fate === 'reset later') {
      const at = random.below(150_000);
      answer.onChange = () => {
        if (answer.length >= at && answer.end === undefined) reset(answer);
      };
    } else if (fate === 'read' && readsConnection) {
      connection.widen(answer.stream, 2 ** 24);
      const read = async () => {
        await answer.ended();
        assert.equal(answer.end, 'complete');
        check(namespace, part, answer.body);
      };
      reading.push(read());
    } else unread.push(answer);
  }
  await Promise.all(reading);
  for (const answer of unread) if (random.chance(0.5)) reset(answer);
  connection.close();
}

/** Sends requests one after another, and disconnects in the middle of a response. */
async function attackOverOne(random: Random): Promise<void> {
  const socket = await dial(cluster, cluster.first);
  socket.on('error', () => undefined);
  const heads = Array.from({ length: 4 }, (_, i) => {
    // All responses may be shorter than what is read here: an open connection would only end when it has been idle for minutes.
    const end = i === 3 ? 'Connection: close\r\n' : '';
    return `GET ${anyList(random).path} HTTP/1.1\r\nHost: x\r\n${end}Authorization: Bearer ${tokens.admin}\r\n\r\n`;
  });
  socket.write(heads.join(''));
  let left = random.below(300_000);
  for await (const chunk of socket) {
    left -= (chunk as Buffer).length;
    if (left <= 0) break;
  }
  socket.destroy();
}

describe('long lists beside clients that reset, stall and leave', () => {
  for (const seed of testSeeds('lists beside hostile clients')) {
    it(`have their own bytes (seed ${seed})`, async () => {
      const random = new Random(seed);
      const { url } = cluster.first;
      const client = new ProtobufClient(url, cluster.pki.authority, tokens.admin);
      let left = 100;
      const read = async () => {
        while (left-- > 0) {
          const { namespace, part, path } = anyList(random);
          const accept = random.pick(['application/json', 'application/json', cbor]);
          const headers: Record<string, string> = random.chance(0.3) ? { 'accept-encoding': 'gzip' } : {};
          const answer = await client.send('GET', path, { accept, headers });
          assert.equal(answer.status, 200);
          const isPacked = answer.headers['content-encoding'] === 'gzip';
          check(namespace, part, isPacked ? gunzipSync(answer.bytes) : answer.bytes, accept);
        }
      };
      const attack = async () => {
        while (left > 0) await (random.chance(0.7) ? attackOverTwo(random) : attackOverOne(random));
      };
      await Promise.all([...Array.from({ length: 8 }, read), attack(), attack(), attack()]);
      assert.doesNotMatch(cluster.first.log, /ERROR/);
    });
  }
});
