import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../../test/support/test-authority.js';

/** A request that reached the server behind a console. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Common name of the client's certificate. */
  readonly certificate: string | undefined;
  readonly body: string;
}

/**
 * A server that stands in for the API server and records the requests that reach it. It knows tokens `token-of-<user>`,
 * client certificates, and believes every ID token.
 */
export class RecordingServer {
  readonly arrived: Arrived[] = [];
  /** Connections that have changed the protocol; what is sent on one comes back. */
  readonly upgraded = new Set<Duplex>();
  /** Responses that differ from the usual ones, by path. */
  readonly answers = new Map<string, (response: ServerResponse) => void>();

  private constructor(
    private readonly server: Server,
    readonly authority: TestIdentity,
  ) {}

  static async start(): Promise<RecordingServer> {
    const authority = await TestIdentity.root('authority of the api');
    const names = [{ type: 'ip', value: '127.0.0.1' }] as const;
    const own = await authority.issue({ subject: [{ CN: ['api'] }], usages: [serverAuth], names });
    const server = createServer({
      cert: own.chain,
      key: own.key,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const recording = new RecordingServer(server, authority);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const subject = (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN;
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const arrived = { method, url, headers, certificate: subject as string | undefined, body };
      recording.arrived.push(arrived);
      recording.answer(arrived, response);
    });
    server.on('upgrade', (request, socket: Duplex) => {
      const { method = '', url = '', headers } = request;
      recording.arrived.push({ method, url, headers, certificate: undefined, body: '' });
      socket.on('error', () => socket.destroy());
      recording.upgraded.add(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n');
      socket.write('sec-websocket-accept: accepted\r\nset-cookie: evil=1\r\n\r\nhello ');
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return recording;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Forgets earlier requests. */
  forget(): void {
    this.arrived.length = 0;
  }

  stop(): void {
    for (const socket of this.upgraded) socket.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer({ url, headers, certificate }: Arrived, response: ServerResponse): void {
    const own = this.answers.get(url);
    if (own !== undefined) {
      own(response);
      return;
    }
    const [, plain, claims] =
      /^Bearer (?:token-of-(.+)|\w+\.([\w-]+)\.[\w-]+)$/.exec(headers.authorization ?? '') ?? [];
    const token = plain ?? (claims === undefined ? undefined : subjectOf(claims));
    const name = token ?? certificate ?? 'system:anonymous';
    const send = (status: number, body: object, more = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...more });
      response.end(JSON.stringify(body));
    };
    if (headers.authorization !== undefined && token === undefined) send(401, { kind: 'Status', code: 401 });
    else if (url === '/apis') send(200, { groups: [{ name: 'authentication.example.io' }] });
    else if (url === '/apis/authentication.example.io/v1/selfsubjectreviews') {
      send(201, { status: { userInfo: { username: name, groups: ['testers'] } } });
    } else send(200, { kind: 'Answer', name }, { 'set-cookie': 'evil=1', warning: '299 - "careful"', server: 'x' });
  }
}

function subjectOf(claims: string): string {
  return (JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { sub: string }).sub;
}
