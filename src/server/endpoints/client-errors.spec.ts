import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createSecureServer, type Http2SecureServer } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../test/support/test-authority.js';
import { answerClientError } from './client-errors.js';

describe('a client that completes its TLS handshake too late', () => {
  let ca: string;
  let server: Http2SecureServer;
  let relay: Server;
  let refused: Promise<[NodeJS.ErrnoException, Socket]>;
  const portOf = (listener: Server | Http2SecureServer) => (listener.address() as AddressInfo).port;

  before(async () => {
    const root = await TestIdentity.root('root');
    ca = root.cert;
    const names = [{ type: 'dns', value: 'localhost' }] as const;
    const { chain, key } = await root.issue({ subject: [{ CN: ['localhost'] }], usages: [serverAuth], names });
    server = createSecureServer({ cert: chain, key, allowHTTP1: true, handshakeTimeout: 100 }, (_request, response) =>
      response.end('served'),
    );
    server.on('clientError', answerClientError);
    server.listen(0, '127.0.0.1');
    // Keeps back what a client sends after its first message, until the server has reported the late handshake.
    relay = createServer((client) => {
      const onward = connect(portOf(server), '127.0.0.1');
      for (const socket of [client, onward]) socket.on('error', () => undefined);
      client.once('close', () => onward.destroy());
      onward.once('close', () => client.destroySoon());
      onward.pipe(client);
      client.once('data', (first: Buffer) => {
        onward.write(first);
        client.pause();
        void refused.then(() => client.pipe(onward));
      });
    });
    relay.listen(0, '127.0.0.1');
    await Promise.all([once(server, 'listening'), once(relay, 'listening')]);
  });

  beforeEach(() => {
    refused = once(server, 'clientError') as typeof refused;
  });

  after(() => {
    server.close();
    relay.close();
  });

  async function assertRefused(): Promise<void> {
    const [error, socket] = await refused;
    assert.equal(error.code, 'ERR_TLS_HANDSHAKE_TIMEOUT');
    assert.ok(socket.destroyed);
  }

  it('is disconnected without an answer over HTTP/1.1', async () => {
    const options = { port: portOf(relay), host: '127.0.0.1', servername: 'localhost', ca };
    const client = connectTls({ ...options, ALPNProtocols: ['http/1.1'] });
    client.on('error', () => undefined);
    let answer = '';
    client.on('data', (data: Buffer) => {
      answer += data.toString();
    });
    client.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
    await once(client, 'close');
    assert.equal(answer, '');
    await assertRefused();
  });

  it('is disconnected over HTTP/2, and others are served', async () => {
    const late = connectHttp2(`https://localhost:${portOf(relay)}`, { ca });
    late.on('error', () => undefined);
    late.request({ ':path': '/' }).on('error', () => undefined);
    await once(late, 'close');
    await assertRefused();

    const other = connectHttp2(`https://localhost:${portOf(server)}`, { ca });
    const [headers] = (await once(other.request({ ':path': '/' }), 'response')) as [{ ':status': number }];
    assert.equal(headers[':status'], 200);
    other.destroy();
  });
});

describe('bytes that are not HTTP/1.1 after a valid request', () => {
  let server: HttpServer;
  let pending: Promise<[unknown, ServerResponse]>;

  beforeEach(async () => {
    server = createHttpServer();
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerClientError(error, socket as Socket));
    pending = once(server, 'request') as typeof pending;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => server.close());

  /** Sends `text` at once, lets `respond` answer the request when the error was reported, and reads until the end. */
  async function send(text: string, respond: (response: ServerResponse) => void): Promise<string> {
    const refused = once(server, 'clientError');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(text);
    const [, response] = await pending;
    await refused;
    respond(response);
    let answer = '';
    for await (const data of client) answer += String(data);
    return answer;
  }

  it('leave the request its own response, the last one of the connection', async () => {
    const request = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi';
    const answer = await send(`${request}\0\0 garbage \r\n\r\n`, (response) => response.writeHead(201).end('made'));
    assert.match(answer, /^HTTP\/1\.1 201 /);
    assert.match(answer, /\r\nConnection: close\r\n/i);
    assert.doesNotMatch(answer, /not valid HTTP/);
  });

  it('are refused when they are in the body of the request', async () => {
    const request = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await send(`${request}2\r\nhi\r\nnot a length\r\n`, () => undefined);
    assert.match(answer, /^HTTP\/1\.1 400 /);
  });
});
