import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { RateLimiter } from '../../base/machinery/rate-limiter.js';
import type { Timers } from '../../base/machinery/timers.js';
import { type ApiAccess, fixedAccess } from '../../base/outgoing/api-access.js';
import { ApiConnection } from './api-connection.js';
import { Http2Connections } from './http2-connections.js';
import { TooManyWait } from './too-many-wait.js';

describe('ApiConnection', () => {
  let server: ReturnType<typeof createSecureServer>;
  let connection: ApiConnection;
  let access: ApiAccess;
  /** Functions that send the responses to minor requests, when the test calls them. */
  const held: (() => void)[] = [];
  let begun = 0;
  let wake: () => void = () => undefined;
  const { signal } = new AbortController();

  before(async () => {
    const authority = await TestIdentity.root('authority');
    const { cert, key } = await authority.issue({
      subject: [{ CN: ['server'] }],
      usages: [serverAuth],
      names: [{ type: 'ip', value: '127.0.0.1' }],
    });
    server = createSecureServer({ cert, key });
    server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      const answer = () => {
        response.setHeader('content-type', 'application/json');
        response.end('{"metadata":{}}');
      };
      if (request.url.includes('slow')) return void held.push(answer);
      if (!request.url.includes('events')) return answer();
      begun += 1;
      held.push(answer);
      wake();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const tls = { ca: authority.cert, cert: undefined, key: undefined, serverName: undefined };
    access = fixedAccess(`https://127.0.0.1:${port}`, { ...tls, insecureSkipVerify: false });
    connection = new ApiConnection(access);
  });
  after(() => {
    connection.stop();
    server.close();
  });

  it('lets minor requests never hold up the others, and gives up those that are too many', async () => {
    const user = connection.own();
    const outcomes = Array.from({ length: 2000 }, () =>
      user.send('POST', '/events', { body: {}, rank: 'minor', signal }).then(
        () => 'done',
        (error: unknown) => error,
      ),
    );
    while (begun < 16) await new Promise<void>((resolve) => (wake = resolve));
    const others = await Promise.all(Array.from({ length: 300 }, () => user.send('GET', '/pods', { signal })));
    assert.equal(others.length, 300);
    assert.equal(begun, 16, 'no more are under way at a time');
    wake = () => held.shift()?.();
    for (const answer of held.splice(0)) answer();
    const results = await Promise.all(outcomes);
    assert.equal(results.filter((result) => result === 'done').length, 1016);
    assert.equal(results.filter((result) => result instanceof TooManyWait).length, 984);
    assert.equal(begun, 1016);
  });

  it('lets urgent requests pass however many others wait', async () => {
    const user = connection.own();
    const slow = Array.from({ length: 300 }, () => user.send('GET', '/slow', { signal }));
    await user.send('PATCH', '/leases/a', { body: {}, rank: 'urgent', signal });
    let left = slow.length;
    for (const one of slow) void one.then(() => left--);
    while (left > 0) {
      for (const answer of held.splice(0)) answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('begins ten requests at once and then five a second, but for urgent ones', async () => {
    const waits: number[] = [];
    const timers = { elapsed: () => 0, wait: async (ms: number) => void waits.push(ms) };
    const rate = new RateLimiter(5, 10, timers as unknown as Timers);
    const limited = new ApiConnection(access, { rate });
    try {
      const user = limited.own();
      await user.send('PATCH', '/leases/a', { body: {}, rank: 'urgent', signal });
      await Promise.all(Array.from({ length: 14 }, () => user.send('GET', '/pods', { signal })));
      await user.send('PATCH', '/leases/a', { body: {}, rank: 'urgent', signal });
      await user.send('POST', '/others', { body: {}, rank: 'minor', signal });
      assert.deepEqual(waits, [200, 400, 600, 800, 1000]);
    } finally {
      limited.stop();
    }
  });

  /** Opens one connection by a request, and makes the server send a GOAWAY without closing it. */
  async function leave(connections: Http2Connections): Promise<void> {
    const begins = once(server, 'session') as Promise<[ServerHttp2Session]>;
    const stream = connections.request({ ':path': '/pods' }, false, signal);
    stream.resume();
    const [[session]] = await Promise.all([begins, once(stream, 'close')]);
    session.goaway(0);
    while (connections.size > 0 && !stateOf(connections).destroyed)
      await new Promise((resolve) => setImmediate(resolve));
  }

  it('closes a connection that the server announces to close and never does', async () => {
    // Long enough for a handshake on a slow machine, which has this time as well.
    const connections = new Http2Connections(access.server, access.tls, 3_000);
    await leave(connections);
    await untilClosed(connections);
  });

  it('stops with a connection that waits for the server to close it', async () => {
    const connections = new Http2Connections(access.server, access.tls);
    await leave(connections);
    assert.equal(connections.size, 1);
    connections.stop();
    await untilClosed(connections);
  });

  it('gives up a connection whose handshake the server does not complete', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const connections = new Http2Connections(
      `https://127.0.0.1:${(mute.address() as AddressInfo).port}`,
      access.tls,
      20,
    );
    try {
      const stream = connections.request({ ':path': '/pods' }, false, signal);
      const [error] = (await once(stream, 'error')) as [Error];
      assert.match(error.message, /handshake/);
      await untilClosed(connections);
    } finally {
      connections.stop();
      for (const socket of sockets) socket.destroy();
      mute.close();
    }
  });
});

async function untilClosed(connections: Http2Connections): Promise<void> {
  while (connections.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The session of the only connection. */
function stateOf(connections: Http2Connections): { readonly destroyed: boolean } {
  const [connection] = (connections as unknown as { open: Set<{ session: { destroyed: boolean } }> }).open;
  return connection?.session ?? { destroyed: true };
}
