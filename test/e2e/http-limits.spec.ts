import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { dial, inFlight, watchers } from './support/connections.js';
import { Http2Client, responseOf } from './support/http2-client.js';
import { residentBytes } from './support/processes.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';
const configMaps = `${core}/configmaps`;
const json = { 'content-type': 'application/json' };
let cluster: TestCluster;
let server: TestServer;
let two: Http2Client;

before(async () => {
  // Lists that the client does not read take longer than most requests may.
  cluster = await TestCluster.start({ servers: 1, flags: ['--request-timeout=10m'] });
  server = cluster.first;
  two = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
  assert.equal((await server.client.post(configMaps, { metadata: { name: 'one' }, data: { a: 'b' } })).status, 201);
});

after(async () => {
  await two.close();
  await cluster.stop();
});

describe('watches', { timeout: 90_000 }, () => {
  it('are freed at once when their client goes away', async () => {
    const before = await watchers(server);
    const one = await Promise.all(Array.from({ length: 5 }, () => server.client.watch(`${configMaps}?watch=true`)));
    const streams = Array.from({ length: 5 }, () => two.open('GET', `${configMaps}?watch=true`));
    await Promise.all(streams.map(responseOf));
    await eventually(async () => (await watchers(server)) === before + 10, 'all watches to be counted');
    for (const watch of one) watch.close();
    for (const stream of streams) stream.close(8);
    await eventually(async () => (await watchers(server)) === before, 'the watches to be gone');
  });
});

/** A client that sends its requests and then reads nothing. */
describe('a client that stops reading', { timeout: 300_000 }, () => {
  const count = 56;

  before(async () => {
    const value = 'y'.repeat(900_000);
    for (let i = 0; i < count; i++) {
      const body = { metadata: { name: `big-${i}` }, data: { value } };
      assert.equal((await server.client.post(`${core}/configmaps`, body)).status, 201);
    }
  });

  for (const version of ['HTTP/1.1', 'HTTP/2'] as const) {
    it(`does not make the server keep lists of 50 MB or a busy watch, ${version}`, async () => {
      const pid = server.process.pid as number;
      // Once by a client that reads, so that permanent memory is in use already.
      const whole = await server.client.get(configMaps);
      assert.ok(whole.text.length > 50_000_000);
      const from = whole.body.metadata.resourceVersion;
      const settled = residentBytes(pid);
      const leave: (() => void)[] = [];
      const paths = [
        ...Array.from({ length: 5 }, () => configMaps),
        `${configMaps}?watch=true&resourceVersion=${from}`,
      ];
      for (const path of paths) {
        if (version === 'HTTP/2') {
          const client = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
          const stream = client.open('GET', path);
          stream.on('error', () => undefined);
          await responseOf(stream);
          stream.pause();
          leave.push(() => void client.close());
        } else {
          const socket = await dial(cluster, server);
          socket.on('error', () => undefined);
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n\r\n`);
          await once(socket, 'readable');
          leave.push(() => socket.destroy());
        }
      }
      await inFlight(server, 'readOnly', 6);
      // More events than are kept for a watch whose client reads none of them.
      for (let i = 0; i < 90; i++) {
        const data = { value: 'z'.repeat(1_000_000), i: String(i) };
        assert.equal((await server.client.patch(`${configMaps}/big-0`, 'merge', { data })).status, 200);
      }
      const grown = residentBytes(pid) - settled;
      for (const go of leave) go();
      // Garbage that is not collected yet counts too: 100 to 155 MB were measured. If responses were kept, they would
      // take 340 MB.
      assert.ok(grown < 220e6, `${Math.round(grown / 1e6)} MB more for five lists of 50 MB and a watch of 90 MB`);
      await inFlight(server, 'readOnly', 1);
    });
  }

  it('ends a watch in time while its client still reads the state', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const client = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
    const stream = client.open('GET', `${configMaps}?${query}&timeoutSeconds=1`);
    stream.pause();
    await responseOf(stream);
    await delay(1_000);
    let last = Buffer.alloc(0);
    for await (const piece of stream) last = Buffer.concat([last, piece]).subarray(-2_000);
    await client.close();
    assert.ok(!last.includes('initial-events-end'), 'all of the state was sent after the time was over');
  });
});

// Each case has a server of its own, and they spend most of the time waiting.
describe('limits', { timeout: 240_000, concurrency: 3 }, () => {
  async function withFlags(flags: readonly string[], run: (limited: TestServer) => Promise<void>): Promise<void> {
    const limited = await cluster.addServer(undefined, flags);
    try {
      await run(limited);
    } finally {
      cluster.servers.splice(cluster.servers.indexOf(limited), 1);
      await limited.stop();
    }
  }

  it('--http2-max-streams-per-connection is announced and kept', async () => {
    await withFlags(['--http2-max-streams-per-connection=3', '--request-timeout=2m'], async (limited) => {
      const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.admin);
      assert.equal(client.session.remoteSettings.maxConcurrentStreams, 3);
      const writes = Array.from({ length: 3 }, () => client.open('POST', configMaps, json, false));
      const answers = writes.map(responseOf);
      for (const write of writes) write.on('error', () => undefined).write('{"metadata":');
      // The client itself holds back the fourth request until one of the others ends.
      let answered = false;
      const fourth = client.send('GET', '/livez').then((answer) => {
        answered = true;
        return answer;
      });
      assert.equal((await limited.client.get('/livez')).status, 200);
      assert.equal(answered, false);
      writes[0]?.resume().end('{"generateName":"late-"}}');
      assert.equal((await answers[0])?.[':status'], 201);
      assert.equal((await fourth).status, 200);
      void Promise.allSettled(answers);
      await client.close();
    });
    const plain = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
    assert.equal(plain.session.remoteSettings.maxConcurrentStreams, 250);
    await plain.close();
  });

  it('--goaway-chance makes clients of both versions reconnect, with their answer', async () => {
    await withFlags(['--goaway-chance=0.02'], async (limited) => {
      let closes = 0;
      for (let i = 0; closes < 2; i++) {
        assert.ok(i < 3000, 'never in 3000 requests');
        const { status, headers } = await limited.client.get('/livez');
        assert.equal(status, 200);
        if (headers.connection === 'close') closes++;
      }
      let goaways = 0;
      for (let i = 0; goaways < 2; ) {
        const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.admin);
        let left = false;
        client.session.once('goaway', () => {
          left = true;
          goaways++;
        });
        while (!left && !client.session.closed) {
          assert.ok(i++ < 3000, 'never in 3000 requests');
          assert.equal((await client.send('GET', '/livez')).status, 200);
        }
        await client.close();
      }
    });
  });

  it('--max-connection-bytes-per-sec slows watches down, and nothing else', async () => {
    await withFlags(['--max-connection-bytes-per-sec=10000'], async (limited) => {
      const { body } = await limited.client.get(`${configMaps}?limit=1`);
      const from = body.metadata.resourceVersion;
      const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.admin);
      const received = [0, 0];
      for (const watch of received.keys()) {
        const stream = client.open('GET', `${configMaps}?watch=true&resourceVersion=${from}`);
        assert.equal((await responseOf(stream))[':status'], 200);
        stream.on('error', () => undefined);
        stream.on('data', (chunk: Buffer) => {
          received[watch] = Number(received[watch]) + chunk.length;
        });
      }
      // The amount that one connection may carry in a minute and a half, sent to one of the watches; the other one has
      // to wait.
      const large = { metadata: { name: 'slow', labels: { slow: 'yes' } }, data: { text: 'z'.repeat(900_000) } };
      assert.equal((await limited.client.post(configMaps, large)).status, 201);
      await eventually(() => received.some((bytes) => bytes > 900_000), 'one of the watches has the event');
      for (let i = 0; i < 5; i++) {
        const list = await client.send('GET', `${configMaps}?labelSelector=slow%3Dyes`);
        assert.equal(list.status, 200);
        assert.ok(list.body.length > 900_000);
      }
      assert.equal((await limited.client.delete(`${configMaps}/slow`)).status, 200);
      assert.equal(received.filter((bytes) => bytes > 900_000).length, 1, 'the other watch still waits');
      await client.close();
    });
  });

  it('--min-request-timeout spreads the ends of watches', async () => {
    await withFlags(['--min-request-timeout=1'], async (limited) => {
      const began = performance.now();
      const ends = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const watch = await limited.client.watch(
            `${configMaps}?watch=true&resourceVersion=0&fieldSelector=metadata.name=x`,
          );
          assert.equal(await watch.next(), undefined);
          return performance.now() - began;
        }),
      );
      ends.sort((a, b) => a - b);
      assert.ok((ends[0] as number) >= 1000);
      assert.ok((ends.at(-1) as number) - (ends[0] as number) > 200, 'they did not all end together');
    });
  });

  it('--max-requests-inflight and --max-mutating-requests-inflight refuse with a 429, watches not counted', async () => {
    const flags = [
      '--enable-priority-and-fairness=false',
      '--max-requests-inflight=2',
      '--max-mutating-requests-inflight=1',
    ];
    await withFlags(flags, async (limited) => {
      const client = await Http2Client.connect(limited.url, cluster.pki.authority, tokens.alice);
      const watches = Array.from({ length: 4 }, () => client.open('GET', `${configMaps}?watch=true`));
      for (const answer of await Promise.all(watches.map(responseOf))) assert.equal(answer[':status'], 200);
      const make = (generateName: string, token: string) =>
        limited.client.post(configMaps, { metadata: { generateName } }, { token });
      /** A write that occupies the seat for only a second, so the next one follows directly. */
      const holdAndAsk = async () => {
        const held = client.open('POST', configMaps, json, false);
        held.on('error', () => undefined);
        held.write('{');
        const answer = await client.send('POST', configMaps, json, '{"metadata":{"generateName":"no-"}}');
        if (answer.status === 429) return { held, answer };
        held.close(8);
        await inFlight(limited, 'mutating', 0);
        return undefined;
      };
      const { held, answer: refused } = await eventually(holdAndAsk, 'a refusal');
      assert.equal(refused.headers['retry-after'], '1');
      assert.equal(JSON.parse(refused.body.toString()).reason, 'TooManyRequests');
      assert.equal((await limited.client.get('/livez')).status, 200);
      // Administrators still get seats, to solve the problem.
      assert.equal((await make('admin-', tokens.admin)).status, 201);
      held.close(8);
      await eventually(async () => (await make('yes-', tokens.bob)).status === 201, 'room for a write again');
      // Lists that are not read keep other requests out only for a short time, and are complete once they are read.
      const data = { text: 'x'.repeat(200_000) };
      for (let i = 0; i < 5; i++) {
        const metadata = { name: `unread-${i}`, labels: { unread: 'yes' } };
        assert.equal((await limited.client.post(configMaps, { metadata, data })).status, 201);
      }
      const get = () => limited.client.get(`${configMaps}/unread-0`, { token: tokens.bob });
      // The lists keep their seats for a second, which a busy machine may miss.
      const unread = await eventually(async () => {
        const lists = [1, 2].map(() => client.open('GET', `${configMaps}?labelSelector=unread%3Dyes`));
        for (const answer of await Promise.all(lists.map(responseOf))) assert.equal(answer[':status'], 200);
        if ((await get()).status === 429) return lists;
        for (const list of lists) list.close(8);
        await inFlight(limited, 'readOnly', 1);
        return undefined;
      }, 'a refusal');
      await eventually(async () => (await get()).status === 200, 'room for a read again');
      for (const stream of unread) {
        let text = '';
        for await (const chunk of stream) text += String(chunk);
        assert.equal(stream.rstCode, 0, `reset after ${text.length} characters`);
        assert.equal(JSON.parse(text).items.length, 5);
      }
      for (let i = 0; i < 5; i++) assert.equal((await limited.client.delete(`${configMaps}/unread-${i}`)).status, 200);
      await client.close();
    });
  });
});
