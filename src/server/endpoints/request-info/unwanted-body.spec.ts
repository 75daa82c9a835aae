import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyReply } from 'fastify';
import { readUnwanted } from './unwanted-body.js';

it('a request takes until its answer is sent, however long its client goes on', async () => {
  const context: { answeredAt: number | undefined } = { answeredAt: undefined };
  const server = createServer();
  const asked = once(server, 'request') as Promise<[Http2ServerRequest, Http2ServerResponse]>;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const sent = client.request({ ':method': 'POST' });
    sent.write('the beginning');
    const [, response] = await asked;
    readUnwanted(response as unknown as FastifyReply['raw'], context);
    response.end('no');
    const ended = once(sent, 'end');
    sent.resume();
    await ended;
    assert.ok(context.answeredAt !== undefined);
    assert.equal(response.stream.closed, false);
    sent.end('the end');
    await once(response.stream, 'close');
    assert.equal(response.stream.rstCode, 0);
  } finally {
    client.destroy();
    server.close();
  }
});

describe('what follows a refusal over HTTP/1.1', () => {
  const limits = { bytes: 100_000, patienceMs: 60_000 };
  let server: Server;
  let port: number;
  /** Called once the server has refused the next POST. */
  let refused: () => void = () => undefined;
  /** Sends the response to the last GET of `/held`. */
  let release: () => void = () => undefined;

  /** Refuses a POST after the beginning of its body, or without reading it; responds normally to other requests. */
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST') {
      release = () => void response.end('next');
      if (request.url !== '/held') release();
      return;
    }
    const refuse = () => {
      readUnwanted(response as unknown as FastifyReply['raw'], { answeredAt: undefined }, limitsOf(request));
      response.writeHead(413, { 'content-length': 2 }).end('no');
      refused();
    };
    if (request.url === '/unread') refuse();
    else {
      request.once('data', () => {
        request.pause();
        refuse();
      });
    }
  };
  const limitsOf = ({ headers }: IncomingMessage) =>
    headers.hurry === undefined ? limits : { ...limits, patienceMs: 1 };

  before(async () => {
    server = createHttpServer({ keepAliveTimeout: 0, requestTimeout: 0 }, answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.close());

  /** A client that reads nothing before it has sent everything. */
  async function open(path: string, length: number, field = 'x-none: x', before?: string): Promise<Socket> {
    const socket = connectTcp({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    const isRefused = new Promise<void>((resolve) => {
      refused = resolve;
    });
    if (before !== undefined) socket.write(`GET ${before} HTTP/1.1\r\nhost: x\r\n\r\n`);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n${field}\r\n\r\n${'x'.repeat(1000)}`,
    );
    await isRefused;
    return socket;
  }

  /** Everything that the server sends until it ends or resets the connection, as text. */
  async function restOf(socket: Socket): Promise<{ readonly text: string; readonly fault: string | undefined }> {
    let text = '';
    let fault: string | undefined;
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fault = error.code;
    });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return { text, fault };
  }

  for (const path of ['/unread', '/begun']) {
    it(`the rest of a body is read, and the next request answered (${path})`, async () => {
      const socket = await open(path, 90_000);
      socket.write('x'.repeat(89_000));
      socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      const { text, fault } = await restOf(socket);
      assert.deepEqual(codesOf(text), ['413', '200']);
      assert.equal(fault, undefined);
    });

    it(`a connection that ends with the answer is not reset (${path})`, async () => {
      const socket = await open(path, 90_000, 'connection: close');
      // The response and the end of the connection have arrived. Further bytes would reset a connection that the server
      // had closed.
      await once(socket, 'readable');
      socket.write('x'.repeat(40_000));
      await new Promise((resolve) => socket.write('x'.repeat(49_000), resolve));
      const { text, fault } = await restOf(socket);
      assert.match(text, /^HTTP\/1\.1 413[\s\S]*no$/);
      assert.equal(fault, undefined);
    });

    it(`a client that sends on and on is cut (${path})`, async () => {
      const socket = await open(path, 10_000_000);
      socket.write('x'.repeat(9_000_000));
      const { text } = await restOf(socket);
      assert.ok(!text.includes('next'));
    });

    it(`a client that sends nothing more is cut in time (${path})`, async () => {
      const socket = await open(path, 90_000, 'hurry: yes');
      const { text } = await restOf(socket);
      assert.match(text, /^HTTP\/1\.1 413/);
    });

    it(`a refused request that arrives with the end of another refused body (${path})`, async () => {
      const socket = await open(path, 2000);
      const rest = restOf(socket);
      await once(socket, 'data');
      const isRefused = new Promise<void>((resolve) => {
        refused = resolve;
      });
      const fields = 'host: x\r\ncontent-length: 90000\r\nconnection: close';
      socket.write(`${'x'.repeat(1000)}POST ${path} HTTP/1.1\r\n${fields}\r\n\r\n${'x'.repeat(1000)}`);
      await isRefused;
      // The second response has arrived: further bytes would reset a connection that the server had closed.
      await once(socket, 'data');
      socket.write('x'.repeat(40_000));
      await new Promise((resolve) => socket.write('x'.repeat(49_000), resolve));
      const { text, fault } = await rest;
      assert.deepEqual(codesOf(text), ['413', '413']);
      assert.equal(fault, undefined);
    });

    for (const last of [true, false]) {
      const then = last ? 'the connection ends in order' : 'the next request is answered';
      it(`a request is refused before the one in front of it is answered, and ${then} (${path})`, async () => {
        const socket = await open(path, 90_000, last ? 'connection: close' : 'x-none: x', '/held');
        release();
        const rest = restOf(socket);
        await once(socket, 'data');
        socket.write('x'.repeat(40_000));
        await new Promise((resolve) => socket.write('x'.repeat(49_000), resolve));
        if (!last) socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
        const { text, fault } = await rest;
        assert.deepEqual(codesOf(text), last ? ['200', '413'] : ['200', '413', '200']);
        assert.equal(fault, undefined);
      });
    }
  }
});

/** The codes of all responses in what a server has sent. */
function codesOf(text: string): (string | undefined)[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
}
