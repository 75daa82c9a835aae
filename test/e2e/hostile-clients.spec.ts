import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Http2Client, responseOf } from './support/http2-client.js';
import { residentBytes } from './support/processes.js';
import { send } from './support/raw-http.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';
const maxConnections = 40;
let cluster: TestCluster;
let server: TestServer;

before(async () => {
  const flags = [
    '--max-requests-inflight=10',
    '--max-mutating-requests-inflight=5',
    '--max-unauthenticated-requests-inflight=1',
    '--unread-answer-timeout=1s',
    `--max-connections-per-address=${maxConnections}`,
    '--max-long-running-request-bytes=4000000',
  ];
  cluster = await TestCluster.start({ servers: 1, flags });
  server = cluster.first;
  const data = { text: 'x'.repeat(100_000) };
  for (let i = 0; i < 8; i++) {
    const made = await server.client.post(`${core}/configmaps`, { metadata: { name: `large-${i}` }, data });
    assert.equal(made.status, 201, made.text);
  }
});

after(() => cluster.stop());

/** A connection on which the server may not send a byte of any body. */
async function unreadable(): Promise<ClientHttp2Session> {
  const session = connect(server.url, { ca: cluster.pki.authority, settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  await once(session, 'remoteSettings');
  return session;
}

function ask(session: ClientHttp2Session, path: string, token: string): ClientHttp2Stream {
  const stream = session.request({ ':path': path, authorization: `Bearer ${token}` });
  stream.on('error', () => undefined);
  return stream;
}

function closed(stream: ClientHttp2Stream): Promise<unknown> {
  return stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', resolve));
}

async function assertOthersAreServed(): Promise<void> {
  for (const token of [tokens.admin, tokens.alice]) {
    const { status } = await server.client.get(`${core}/configmaps/large-0`, { token });
    assert.equal(status, 200);
  }
  for (const path of ['/livez', '/readyz', '/healthz']) assert.equal((await server.client.get(path)).status, 200);
  const anybody = cluster.clientFor(server);
  for (const path of ['/livez', '/readyz/ping']) assert.equal((await anybody.get(path)).status, 200);
  anybody.close();
}

describe('clients that do not read', () => {
  for (const [who, token] of [
    ['without valid credentials', 'wrong'],
    ['with them', tokens.bob],
  ] as const) {
    it(`shut nobody out over HTTP/2 (${who}), and their streams end`, async () => {
      const sessions = await Promise.all(Array.from({ length: 5 }, unreadable));
      const streams = sessions.flatMap((session) =>
        Array.from({ length: 100 }, (_, i) => ask(session, `${core}/configmaps/made-up-${i}`, token)),
      );
      await Promise.all(streams.map((stream) => responseOf(stream).catch(() => undefined)));
      await assertOthersAreServed();
      await Promise.all(streams.map(closed));
      for (const session of sessions) session.destroy();
    });
  }

  it('lose long answers, and their seats are free again', async () => {
    const session = await unreadable();
    const streams = Array.from({ length: 10 }, () => ask(session, `${core}/configmaps`, tokens.bob));
    for (const head of await Promise.all(streams.map(responseOf))) assert.equal(head[':status'], 200);
    await Promise.all(streams.map(closed));
    assert.equal((await server.client.get(`${core}/configmaps?limit=1`, { token: tokens.bob })).status, 200);
    session.destroy();
  });

  it('can not pile up answers on one connection', async () => {
    // Long enough that none is closed before there are too many.
    const data = { text: 'x'.repeat(900_000) };
    const long = `${core}/configmaps/long`;
    assert.equal((await server.client.post(`${core}/configmaps`, { metadata: { name: 'long' }, data })).status, 201);
    const session = await unreadable();
    const before = residentBytes(server.process.pid as number);
    const statuses: number[] = [];
    for (let i = 0; i < 40; i++) {
      const stream = ask(session, long, tokens.bob);
      statuses.push(Number((await responseOf(stream))[':status']));
    }
    assert.ok(statuses.includes(429), 'all were answered');
    assert.ok(residentBytes(server.process.pid as number) - before < 200 * 2 ** 20);
    await assertOthersAreServed();
    assert.equal((await server.client.delete(long)).status, 200);
    session.destroy();
  });

  it('lose their watches over HTTP/2, also when nothing happens', async () => {
    const session = await unreadable();
    const stream = ask(session, `${core}/configmaps?watch=1`, tokens.bob);
    assert.equal((await responseOf(stream))[':status'], 200);
    await closed(stream);
    session.destroy();
  });

  it('leave nothing behind when they reset watches at once', async () => {
    const session = connect(server.url, { ca: cluster.pki.authority });
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    const count = 20;
    const labels = 'verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace"';
    const sumOf = async (metric: string) => {
      const { text } = await server.client.get('/metrics');
      const series = text.split('\n').filter((line) => line.startsWith(`${metric}{${labels}`));
      return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    };
    const before = await sumOf('apiserver_request_total');
    for (let i = 0; i < count; i++) {
      const stream = ask(session, `${core}/configmaps?watch=1`, tokens.bob);
      stream.once('ready', () => stream.close(8));
    }
    await eventually(
      async () => (await sumOf('apiserver_request_total')) === before + count,
      'the server to notice the resets',
    );
    await assertOthersAreServed();
    await eventually(async () => (await sumOf('apiserver_longrunning_requests')) === 0, 'the watches to end');
    session.destroy();
  });

  for (const path of [`${core}/configmaps`, `${core}/configmaps?watch=1`]) {
    it(`lose their connection over HTTP/1.1 (${path})`, async () => {
      const { port } = new URL(server.url);
      const socket = connectTls({ port: Number(port), ca: cluster.pki.authority, ALPNProtocols: ['http/1.1'] });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.bob}\r\n\r\n`);
      await eventually(async () => {
        const { text } = await server.client.get('/metrics');
        const labels = 'resource="configmaps",subresource="",scope="namespace"';
        const verb = path.includes('watch') ? 'WATCH' : 'LIST';
        return text.includes(`apiserver_request_total{verb="${verb}",group="",version="v1",${labels}`);
      }, 'the server to end it');
      socket.destroy();
    });
  }
});

describe('seats', () => {
  it('of anonymous requests are few, and only theirs', async () => {
    const anybody = cluster.clientFor(server);
    const held = await holdRequest('');
    await eventually(async () => (await anybody.get('/version')).status === 429, 'the seat to be taken');
    await assertOthersAreServed();
    held.destroy();
    await eventually(async () => (await anybody.get('/version')).status === 200, 'the seat to be free');
    anybody.close();
  });

  it('are not kept from others by bodies that do not come', async () => {
    const held = await Promise.all(Array.from({ length: 15 }, () => holdRequest(tokens.alice)));
    const write = () => server.client.patch(`${core}/configmaps/large-0`, 'merge', {}, { token: tokens.bob });
    await eventually(async () => (await write()).status === 200, 'a seat to be taken from those who wait');
    for (const socket of held) socket.destroy();
  });
});

describe('long-running requests', () => {
  const bytesKept = async () => {
    const { text } = await server.client.get('/metrics');
    return Number(/^plinth_long_running_request_bytes (\S+)/m.exec(text)?.[1]);
  };
  const selector = (n: number) => Array.from({ length: 900 }, (_, i) => `!a${n}x${i}`).join();
  let version = '';
  const watchPath = (query = '') => `${core}/configmaps?watch=true&resourceVersion=${version}&${query}`;

  it('of a user keep so much memory and no more, others have theirs, and it is free again', async () => {
    const [alice, bob, admin] = (await Promise.all(
      [tokens.alice, tokens.bob, tokens.admin].map((token) =>
        Http2Client.connect(server.url, cluster.pki.authority, token),
      ),
    )) as [Http2Client, Http2Client, Http2Client];
    version = (await server.client.get(`${core}/configmaps?limit=1`)).body.metadata.resourceVersion;
    const before = await bytesKept();
    const kept: ClientHttp2Stream[] = [];
    const watch = async (client: Http2Client, query: string) => {
      const stream = client.open('GET', watchPath(query));
      stream.on('error', () => undefined);
      stream.resume();
      const head = await responseOf(stream);
      if (Number(head[':status']) === 200) kept.push(stream);
      else stream.close();
      return head;
    };
    const refused = async (query: (n: number) => string) => {
      for (let n = 0; n < 60; n++) {
        const head = await watch(alice, query(n));
        if (Number(head[':status']) !== 200) return head;
      }
      return undefined;
    };
    for (const query of [(n: number) => `labelSelector=${selector(n)}`, () => '']) {
      const head = await refused(query);
      assert.equal(head?.[':status'], 429);
      assert.ok(Number(head['retry-after']) > 0);
    }
    assert.ok((await bytesKept()) > 1_500_000, 'a user has half of all');
    // The long field selectors, logs and WebSockets of the same user count as well.
    const fields = Array.from({ length: 900 }, (_, i) => `metadata.name!%3Dx${i}`).join();
    assert.equal((await watch(alice, `fieldSelector=${fields}`))[':status'], 429);
    const long = 'x'.repeat(50_000);
    for (const [path, more] of [
      [`${core}/pods/none/log?follow=true&container=${long}`, ''],
      [
        watchPath(`labelSelector=${selector(99)}`),
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      ],
    ] as const) {
      const fields = `Host: x\r\nAuthorization: Bearer ${tokens.alice}\r\n${more}`;
      const { status } = await send(server.url, cluster.pki.authority, [`GET ${path} HTTP/1.1\r\n${fields}\r\n`]);
      assert.equal(status, 429, path.slice(0, 80));
    }
    assert.equal((await watch(bob, `labelSelector=${selector(0)}`))[':status'], 200);
    for (let n = 0; n < 20; n++) {
      assert.equal(
        (await watch(admin, `labelSelector=${selector(n)}`))[':status'],
        200,
        'administrators are not refused',
      );
    }
    // Other requests don't count.
    assert.equal((await server.client.get(`${core}/configmaps/large-0`, { token: tokens.alice })).status, 200);
    for (const stream of kept) stream.close(8);
    await eventually(async () => (await bytesKept()) === before, 'all of it to be free');
    assert.equal((await watch(alice, ''))[':status'], 200);
    await Promise.all([alice, bob, admin].map((client) => client.close()));
    await eventually(async () => (await bytesKept()) === before, 'that of a lost connection to be free');
  });
});

describe('bodies that are refused before their end', () => {
  it('are read, so that what comes next on the connection is answered', async () => {
    const authorization = `Authorization: Bearer ${tokens.alice}\r\n`;
    const piece = 'x'.repeat(100_000);
    const pieces = Array.from({ length: 38 }, () => `${piece.length.toString(16)}\r\n${piece}\r\n`);
    const { statuses } = await send(server.url, cluster.pki.authority, [
      `POST ${core}/configmaps HTTP/1.1\r\nHost: x\r\n${authorization}Transfer-Encoding: chunked\r\n\r\n`,
      ...pieces,
      '0\r\n\r\n',
      `GET /livez HTTP/1.1\r\nHost: x\r\n${authorization}Connection: close\r\n\r\n`,
    ]);
    assert.deepEqual(statuses, [413, 200]);
  });
});

/** A POST whose body does not end. */
async function holdRequest(token: string) {
  const { port } = new URL(server.url);
  const socket = connectTls({ port: Number(port), ca: cluster.pki.authority, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const authorization = token === '' ? '' : `Authorization: Bearer ${token}\r\n`;
  socket.write(`POST ${core}/configmaps HTTP/1.1\r\nHost: x\r\n${authorization}Content-Length: 100\r\n\r\n{`);
  return socket;
}

describe('metrics', () => {
  const seriesOf = async () => {
    const { text } = await server.client.get('/metrics');
    return text.split('\n').filter((line) => line.startsWith('apiserver_')).length;
  };

  it('make no metric series for invented values', async () => {
    const client = await Http2Client.connect(server.url, cluster.pki.authority, tokens.alice);
    const attack = async (round: number) => {
      const words = (i: number) => `made-up-${round}-${i}`;
      const long = 'x'.repeat(70_000);
      for (let i = 0; i < 500; i++) {
        const paths = [
          `/apis/${words(i)}.example.com/v1/things`,
          `/api/v1/namespaces/${words(i)}/${words(i)}/x`,
          `/api/v1/namespaces/default/pods/x/${words(i)}`,
          `/apis/apps/${words(i)}/deployments?watch=1`,
          `/${words(i)}`,
        ];
        const path = paths[i % paths.length] as string;
        const method = i % 10 === 5 ? `METHOD${round}X${i}` : i % 10 === 6 ? 'DELETE' : 'GET';
        const headers = i % 25 === 0 ? { 'x-long': long } : i % 3 === 0 ? { authorization: `Bearer ${words(i)}` } : {};
        await client.send(method, path, headers).catch(() => undefined);
      }
      for (const path of ['/apis/x.y/v1/z', `/apis/${words(0)}/v1/z`]) {
        const answer = await send(server.url, cluster.pki.authority, [
          `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Long: ${long}\r\n\r\n`,
        ]);
        assert.equal(answer.status, 431);
      }
    };
    await attack(0);
    // The server's own work may add one now and then. Invented values would add some with each attack.
    const counts = [await seriesOf()];
    while (counts.length < 2 || (counts.at(-1) !== counts.at(-2) && counts.length < 5)) {
      await attack(counts.length);
      counts.push(await seriesOf());
    }
    assert.equal(counts.at(-1), counts.at(-2), counts.join());
    await client.close();
  });
});

describe('connections', () => {
  it('above the limit of an address are closed, and half-open ones count', async () => {
    const port = Number(new URL(server.url).port);
    const open = Array.from({ length: 2 * maxConnections }, () => connectTcp({ port, host: '127.0.0.1' }));
    let ended = 0;
    for (const socket of open) {
      socket.on('error', () => undefined);
      socket.once('close', () => ended++);
      // A closed connection is only noticed by reading.
      socket.resume();
    }
    await eventually(() => ended >= maxConnections, 'those above the limit to be closed');
    // The earlier connection stays open.
    assert.equal((await server.client.get('/livez')).status, 200);
    for (const socket of open) socket.destroy();
    await eventually(async () => {
      const client = cluster.clientFor(server, { token: tokens.alice });
      const { status } = await client.get('/livez').catch(() => ({ status: 0 }));
      client.close();
      return status === 200;
    }, 'room for others again');
  });
});
