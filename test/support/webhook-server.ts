import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { serverAuth, TestIdentity } from './test-authority.js';

/** A review that a hook received. */
export interface ReceivedAdmissionReview {
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Common name of the client's certificate. */
  readonly client: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever was sent
  readonly review: any;
}

/** The answer: fields of the response besides the uid, a whole HTTP answer, or none on a connection that ends. */
export type WebhookAnswer =
  | Readonly<Record<string, unknown>>
  | { readonly http: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  | 'cut';

/** An answer by path. */
type WebhookBehaviour = (received: ReceivedAdmissionReview) => WebhookAnswer | Promise<WebhookAnswer>;

/** A patch as hooks send it. */
export function patchAnswer(operations: unknown): Readonly<Record<string, unknown>> {
  const text = typeof operations === 'string' ? operations : JSON.stringify(operations);
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') };
}

/** Resolves after this many milliseconds and never earlier, although timers may fire a little early. */
export async function holdFor(ms: number): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) await delay(Math.ceil(left));
}

/** Serves hooks over TLS with an authority of its own. The test defines the path and the behaviour of each hook. */
export class WebhookServer {
  readonly received: ReceivedAdmissionReview[] = [];
  private readonly behaviours = new Map<string, WebhookBehaviour>();
  private readonly sockets = new Set<Socket>();
  connections = 0;

  private constructor(
    private readonly server: Server,
    private readonly authority: TestIdentity,
  ) {}

  /** @param names of services (`name.namespace.svc`) that its certificate is for, besides its address */
  static async start(names: readonly string[] = []): Promise<WebhookServer> {
    const authority = await TestIdentity.root('hooks');
    const identity = await authority.issue({
      subject: [{ CN: ['hook'] }],
      usages: [serverAuth],
      names: [{ type: 'ip', value: '127.0.0.1' }, ...names.map((value) => ({ type: 'dns', value }) as const)],
    });
    const tls = { cert: identity.chain, key: identity.key, ca: authority.cert, requestCert: true };
    const server = createServer({ ...tls, rejectUnauthorized: false });
    const hooks = new WebhookServer(server, authority);
    server.on('connection', (socket: Socket) => {
      hooks.connections++;
      hooks.sockets.add(socket);
      socket.once('close', () => hooks.sockets.delete(socket));
    });
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      // Only reviews are answered; a redirect may lead to a path that is read.
      if (request.method !== 'POST') {
        response.writeHead(404).end('nothing to read');
        return;
      }
      const url = new URL(request.url ?? '/', 'https://hook');
      const socket = request.socket as TLSSocket;
      const received: ReceivedAdmissionReview = {
        path: url.pathname,
        query: url.search,
        headers: request.headers,
        client: socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined,
        review: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      };
      hooks.received.push(received);
      const behaviour = hooks.behaviours.get(url.pathname);
      const answer = behaviour === undefined ? { http: 404, text: 'no such hook' } : await behaviour(received);
      if (answer === 'cut') {
        socket.destroy();
        return;
      }
      const { http, text, headers } = answer as { http?: number; text?: string; headers?: Record<string, string> };
      if (http !== undefined) {
        response.writeHead(http, { 'content-type': 'application/json', ...headers }).end(text);
        return;
      }
      const { apiVersion, kind, request: asked } = received.review;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, ...answer } }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return hooks;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** PEM of the authority of the server's certificate. */
  get ca(): string {
    return this.authority.cert;
  }

  get caBundle(): string {
    return Buffer.from(this.ca).toString('base64');
  }

  /** A client certificate that the server accepts, with its key. */
  async clientIdentity(name: string): Promise<{ readonly cert: string; readonly key: string }> {
    const { chain, key } = await this.authority.issue({ subject: [{ CN: [name] }] });
    return { cert: chain, key };
  }

  on(path: string, behaviour: WebhookBehaviour): void {
    this.behaviours.set(path, behaviour);
  }

  url(path: string): string {
    return `https://127.0.0.1:${this.port}${path}`;
  }

  /** The reviews that a path received. */
  seen(path: string): readonly ReceivedAdmissionReview[] {
    return this.received.filter((one) => one.path === path);
  }

  /** The number of open connections. */
  get open(): number {
    return this.sockets.size;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
