import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { Random, testSeeds } from '../support/random.js';
import type { ApiClient, WatchEvent, WatchStream } from './support/api-client.js';
import { expireHistory } from './support/expire-history.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';
import {
  brief,
  create,
  listVersion,
  ownCollection,
  patch,
  readAll,
  readUpToMark,
  remove,
  setN,
  streaming,
  versionOf,
  watch,
} from './support/watching.js';

// The rules that clients of a watch rely on (specification 4.4 and 6.1), each against two or more server processes.

let cluster: TestCluster;
let one: ApiClient;
let two: ApiClient;
/** For tests that mostly wait for the end of a watch; each has a collection of its own. */
const sideBySide = { concurrency: 6 };

before(async () => {
  cluster = await TestCluster.start({ servers: 3 });
  one = cluster.first.client;
  two = cluster.second.client;
});

after(() => cluster.stop());

describe('where a watch starts', () => {
  it('at a version: everything after it, even of objects that are gone by now', async () => {
    const path = await ownCollection(one);
    await create(one, path, 'x');
    const first = await setN(two, path, 'x', '1');
    const second = await setN(one, path, 'x', '2');
    await remove(two, path, 'x');
    for (const { client } of cluster.servers) {
      const stream = await watch(client, path, `resourceVersion=${first.metadata.resourceVersion}`);
      const events = await readUpToMark(two, stream, path);
      assert.deepEqual(events.map(brief).slice(0, 2), ['MODIFIED x 2', 'DELETED x 2']);
      assert.deepEqual(events[0]?.object, second);
      assert.deepEqual(
        events.slice(2).filter((event) => !event.object.metadata.name.startsWith('mark-')),
        [],
      );
      stream.close();
    }
  });

  it('again at its last version, at another process: nothing twice, nothing missing', async () => {
    const path = await ownCollection(one);
    let from = await listVersion(one, path);
    const expected: string[] = [];
    const got: string[] = [];
    for (let round = 0; round < 9; round++) {
      const client = (cluster.servers[round % 3] as (typeof cluster.servers)[number]).client;
      const stream = await watch(client, path, `resourceVersion=${from}`);
      const name = `r${round}`;
      await create(two, path, name);
      await setN(one, path, name, '1');
      // This connection takes less than everything, so the next one has to fetch the rest.
      const events = await stream.take(1 + (round % 2));
      stream.close();
      await setN(one, path, name, 'between');
      expected.push(`ADDED ${name} 0`, `MODIFIED ${name} 1`, `MODIFIED ${name} between`);
      got.push(...events.map(brief));
      from = events.at(-1)?.object.metadata.resourceVersion;
    }
    const stream = await watch(two, path, `resourceVersion=${from}`);
    got.push(...(await stream.take(expected.length - got.length)).map(brief));
    assert.deepEqual(await readUpToMark(two, stream, path), []);
    assert.deepEqual(got, expected);
    stream.close();
  });

  for (const version of ['', '0']) {
    it(`at version "${version}": the state as ADDED, then what changes`, async () => {
      const path = await ownCollection(one);
      for (const name of ['c', 'a', 'b']) await create(one, path, name);
      await setN(one, path, 'b', '5');
      await remove(one, path, 'c');
      const stream = await watch(two, path, `resourceVersion=${version}`);
      const state = new Map<string, string>();
      if (version === '') assert.deepEqual((await stream.take(2)).map(brief).sort(), ['ADDED a 0', 'ADDED b 5']);
      await setN(one, path, 'a', '1');
      // Any state will do for 0; from there on nothing may be missing.
      const isComplete = () => state.get('a') === '1' && !state.has('c') && (version === '' || state.get('b') === '5');
      while (!isComplete()) {
        const [event] = await stream.take(1);
        const { metadata, data } = event?.object ?? {};
        assert.equal(event?.type === 'ADDED', !state.has(metadata.name) && version !== '');
        if (event?.type === 'DELETED') state.delete(metadata.name);
        else state.set(metadata.name, data.n);
      }
      stream.close();
    });
  }

  it('without a version: not older than what any process has acknowledged before', async () => {
    const path = await ownCollection(one);
    for (let i = 0; i < 25; i++) {
      const [writer, watcher] = i % 2 === 0 ? [one, two] : [two, one];
      await create(writer, path, `fresh-${i}`);
      const stream = await watch(watcher, path, `fieldSelector=metadata.name%3Dfresh-${i}`);
      const [event] = await stream.take(1);
      assert.equal(brief(event as WatchEvent), `ADDED fresh-${i} 0`);
      stream.close();
    }
  });
});

describe('the order of a watch', () => {
  for (const seed of testSeeds('order of watches')) {
    it(`is the same everywhere and from every version on (seed ${seed})`, async () => {
      const random = new Random(seed);
      const path = await ownCollection(one);
      const from = await listVersion(one, path);
      const first = await watch(one, path, `resourceVersion=${from}`);
      const writes = 160;
      const writer = async (client: ApiClient, own: Random) => {
        for (let i = 0; i < writes / 4; i++) {
          const name = `k${own.below(6)}`;
          const dice = own.below(3);
          if (dice === 0) await client.delete(`${path}/${name}`);
          else if (dice === 1) await client.patch(`${path}/${name}`, 'merge', { data: { n: String(own.next()) } });
          else await client.post(path, { metadata: { name } });
        }
      };
      const forks = [one, two, one, two].map((client) => writer(client, new Random(random.below(2 ** 31))));
      // Watches that start at each arriving event, while the writers continue.
      const later: { from: bigint; stream: WatchStream }[] = [];
      await Promise.all(forks);
      const reference = await readUpToMark(two, first, path);
      assert.ok(reference.length > 40, `${reference.length} events`);
      for (let i = 0; i < reference.length; i += 3) {
        const { client } = cluster.servers[i % 3] as (typeof cluster.servers)[number];
        const at = versionOf(reference[i] as WatchEvent);
        later.push({ from: at, stream: await watch(client, path, `resourceVersion=${at}`) });
      }
      for (let i = 1; i < reference.length; i++) {
        assert.ok(versionOf(reference[i] as WatchEvent) > versionOf(reference[i - 1] as WatchEvent), 'rising versions');
      }
      for (const { from: at, stream } of later) {
        const expected = reference.filter((event) => versionOf(event) > at);
        assert.deepEqual(await stream.take(expected.length), expected);
        stream.close();
      }
      first.close();
    });
  }

  it('has a DELETED with the full last state, at the version of the deletion', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'x', { some: 'label' }, 'last');
    const stream = await watch(two, path, `resourceVersion=${made.metadata.resourceVersion}`);
    await remove(one, path, 'x');
    const [event] = await stream.take(1);
    assert.equal(event?.type, 'DELETED');
    assert.ok(versionOf(event as WatchEvent) > BigInt(made.metadata.resourceVersion));
    const { resourceVersion } = event?.object.metadata ?? {};
    assert.deepEqual(event?.object, { ...made, metadata: { ...made.metadata, resourceVersion } });
    // A watch from there shows later changes, and not the deletion again.
    const next = await watch(one, path, `resourceVersion=${resourceVersion}`);
    await create(two, path, 'x', {}, 'new');
    for (const open of [stream, next]) {
      assert.equal(brief((await open.take(1))[0] as WatchEvent), 'ADDED x new');
      open.close();
    }
  });

  it('has no event for a write that changes nothing', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'x', { l: '1' });
    const stream = await watch(two, path, `resourceVersion=${made.metadata.resourceVersion}`);
    const same = [
      await two.put(`${path}/x`, made),
      await one.put(`${path}/x`, { ...made, metadata: { ...made.metadata, resourceVersion: undefined } }),
      await one.patch(`${path}/x`, 'merge', { data: { n: '0' } }),
      await two.patch(`${path}/x`, 'strategic-merge', { metadata: { labels: { l: '1' } } }),
      await one.patch(`${path}/x`, 'json', [{ op: 'replace', path: '/data/n', value: '0' }]),
      await one.patch(`${path}/x`, 'json', []),
    ];
    for (const answer of same) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.metadata.resourceVersion, made.metadata.resourceVersion);
    }
    assert.deepEqual(await readUpToMark(two, stream, path), []);
    stream.close();
  });
});

describe('versions that a watch can not start at', () => {
  const future = (answer: { status: number; text: string; headers: object; body: WatchEvent['object'] }) => {
    assert.equal(answer.status, 504, answer.text);
    assert.equal(answer.body.reason, 'Timeout');
    assert.match(answer.body.message, /^Timeout: Too large resource version: 999999999999, current: \d+$/);
    assert.deepEqual(answer.body.details.causes, [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ]);
    const { 'retry-after': retryAfter } = answer.headers as Record<string, string>;
    assert.match(retryAfter ?? '', /^[1-9]\d*$/);
    assert.equal(answer.body.details.retryAfterSeconds, Number(retryAfter));
  };

  it('answers 504 to one from the future', async () => {
    const path = await ownCollection(one);
    future(await one.get(`${path}?watch=1&resourceVersion=999999999999`));
  });

  it('sends it as an event where the watch was to begin with a list', async () => {
    const path = await ownCollection(two);
    const { status, text } = await two.get(`${path}?watch=1&${streaming}&resourceVersion=999999999999`);
    assert.equal(status, 200, text);
    const { type, object } = JSON.parse(text);
    assert.deepEqual([type, object.code, object.reason], ['ERROR', 504, 'Timeout']);
    assert.match(object.message, /^Timeout: Too large resource version: 999999999999, current: \d+$/);
    assert.equal(object.details.causes[0].reason, 'ResourceVersionTooLarge');
    assert.ok(object.details.retryAfterSeconds >= 1);
  });

  it('knows the older paths only of what can be watched', async () => {
    const paths = ['/api/v1/watch/componentstatuses', '/api/v1/watch/namespaces/default/pods/a/log'];
    paths.push('/apis/authorization.k8s.io/v1/watch/subjectaccessreviews', '/api/v1/watch/bindings');
    for (const path of paths) assert.equal((await one.get(path)).status, 404, path);
    assert.equal((await one.get('/api/v1/componentstatuses?watch=1')).status, 405);
  });

  for (const version of ['abc', '-1', '1.5', '0x10', '99999999999999999999']) {
    it(`answers 500 to ${version}, as the release does`, async () => {
      const path = await ownCollection(one);
      const answer = await one.get(`${path}?watch=1&resourceVersion=${version}`);
      assert.equal(answer.status, 500, answer.text);
      assert.match(answer.text, /"message":"resourceVersion: Invalid value: /);
    });
  }

  it('answers an expired one with a 410 as the only event', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'x');
    await setN(one, path, 'x', '1');
    const open = await watch(two, path, `resourceVersion=${made.metadata.resourceVersion}`);
    await open.take(1);
    await expireHistory(cluster.databaseUrl);
    // Others may remember some of the history, and may use that.
    const late = await cluster.addServer();
    for (const version of [made.metadata.resourceVersion, '2']) {
      const answer = await late.client.get(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=5`);
      const [line, ...more] = answer.text.trim().split('\n');
      const reported = JSON.parse(line ?? '{}');
      assert.deepEqual(more, [], answer.text);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(reported.type, 'ERROR');
      const status = reported.object;
      assert.equal(status.kind, 'Status');
      assert.equal(status.code, 410);
      assert.equal(status.reason, 'Expired');
    }
    cluster.servers.splice(cluster.servers.indexOf(late), 1);
    await late.stop();
    // An open watch continues, or gets the 410 too if it has not read since then; it never stays silent.
    await setN(one, path, 'x', '2');
    const [next] = await open.take(1);
    if (next?.type === 'ERROR') assert.equal(next.object.reason, 'Expired');
    else assert.equal(brief(next as WatchEvent), 'MODIFIED x 2');
    open.close();
    // And a list returns a version to start at.
    const from = await listVersion(two, path);
    const stream = await watch(one, path, `resourceVersion=${from}`);
    await setN(two, path, 'x', '3');
    assert.equal(brief((await stream.take(1))[0] as WatchEvent), 'MODIFIED x 3');
    stream.close();
  });
});

describe('the bytes of a watch over HTTP/1.1', sideBySide, () => {
  /** Sends requests over one connection and reads until two events have come. */
  const exchange = async (head: (path: string) => string): Promise<string> => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const { hostname, port } = new URL(cluster.first.url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.write(head(`${path}?watch=1&timeoutSeconds=60&resourceVersion=${from}`));
    socket.setEncoding('utf8');
    let text = '';
    let made: Promise<unknown> | undefined;
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes('application/json')) made ??= create(two, path, 'x').then(() => setN(two, path, 'x', 'ü'));
      if (types(text).length === 2 && text.endsWith('\n')) break;
    }
    await made;
    return text;
  };
  const fields = `host: plinth\r\nauthorization: Bearer ${tokens.admin}\r\n`;
  const types = (text: string) => [...text.matchAll(/"type":"(\w+)"/g)].map(([, type]) => type);

  it('are chunks with the length of their events, also behind an earlier request on the connection', async () => {
    const text = await exchange(
      (url) => `GET /livez HTTP/1.1\r\n${fields}\r\nGET ${url} HTTP/1.1\r\n${fields}connection: close\r\n\r\n`,
    );
    let rest = Buffer.from(text.slice(text.indexOf('\r\n\r\n', text.lastIndexOf('HTTP/1.1 200')) + 4));
    const events: (string | undefined)[] = [];
    while (rest.length > 0) {
      const end = rest.indexOf('\r\n');
      const length = Number.parseInt(rest.toString('latin1', 0, end), 16);
      const after = end + 2 + length;
      assert.equal(rest.toString('latin1', after, after + 2), '\r\n');
      events.push(...types(rest.toString('utf8', end + 2, after)));
      rest = rest.subarray(after + 2);
    }
    assert.deepEqual(events, ['ADDED', 'MODIFIED']);
  });

  it('are many chunks where many changes come at once: all in one would hold up other requests', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
    for (const name of names) {
      await one.post(path, { metadata: { name }, data: { text: 'x'.repeat(60_000) } });
    }
    const { hostname, port } = new URL(cluster.first.url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.write(`GET ${path}?watch=1&timeoutSeconds=60&resourceVersion=${from} HTTP/1.1\r\n${fields}\r\n`);
    socket.setEncoding('latin1');
    let text = '';
    for await (const chunk of socket) {
      text += chunk;
      if (types(text).length === names.length && text.endsWith('}\n\r\n')) break;
    }
    const sizes = [...text.matchAll(/\r\n([0-9a-f]+)\r\n{"type"/g)].map(([, size]) =>
      Number.parseInt(size as string, 16),
    );
    assert.ok(sizes.length > 1 && Math.max(...sizes) < 200_000, sizes.join());
    const shown = [...text.matchAll(/"name":"(n\d+)"/g)].map(([, name]) => name);
    assert.deepEqual(shown, names, 'in order, once each');
  });

  it('have no frames for a client of HTTP/1.0', async () => {
    const text = await exchange((url) => `GET ${url} HTTP/1.0\r\n${fields}\r\n`);
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    const events = body.trimEnd().split('\n');
    assert.deepEqual(
      events.map((line) => JSON.parse(line).type),
      ['ADDED', 'MODIFIED'],
    );
  });
});

describe('the end of a watch', sideBySide, () => {
  it('comes after timeoutSeconds, without an error and with whole lines', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const began = performance.now();
    const answer = await two.get(`${path}?watch=1&resourceVersion=${from}&timeoutSeconds=2`);
    const took = performance.now() - began;
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '');
    assert.ok(took > 1_500 && took < 15_000, `${took} ms`);
  });

  it('comes to a client that does not read, which then resumes where it was', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'x');
    const { resourceVersion } = made.metadata;
    const slow = await watch(one, path, `resourceVersion=${resourceVersion}`);
    const attentive = await watch(two, path, `resourceVersion=${resourceVersion}`);
    // Far more than sockets and buffers hold.
    const writes = 100;
    const filler = 'x'.repeat(900_000);
    const reading = attentive.take(writes, 60_000);
    for (let i = 0; i < writes; i++) await patch(two, path, 'x', { data: { n: String(i), filler: `${i}${filler}` } });
    assert.equal((await reading).length, writes);
    attentive.close();

    const got = (await readAll(slow)).filter(({ type }) => type !== 'ERROR');
    assert.ok(got.length < writes, 'the server kept everything for a client that did not read');
    const from = got.at(-1)?.object.metadata.resourceVersion ?? resourceVersion;
    const rest = await watch(two, path, `resourceVersion=${from}`);
    got.push(...(await rest.take(writes - got.length, 60_000)));
    rest.close();
    assert.deepEqual(
      got.map(({ object }) => object.data.n),
      Array.from({ length: writes }, (_, i) => String(i)),
    );
  });

  it('leaves nothing behind: a server ends in time despite open watches', async () => {
    const extra = await cluster.addServer();
    const path = await ownCollection(one);
    const stream = await watch(extra.client, path, `resourceVersion=${await listVersion(extra.client, path)}`);
    cluster.servers.splice(cluster.servers.indexOf(extra), 1);
    const ended = readAll(stream, 60_000);
    extra.process.kill('SIGTERM');
    await ended;
    await eventually(() => extra.process.exitCode !== null, 'the end of the server', 60_000);
    assert.equal(extra.process.exitCode, 0, extra.log);
    extra.client.close();
  });
});
