import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { freePort } from '../../support/ports.js';
import { serverAuth, TestIdentity } from '../../support/test-authority.js';

export const group = 'flavours.example.dev';
export const version = 'v1';
export const groupPath = `/apis/${group}/${version}`;

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  /** Common name of the caller's certificate if the request-header authority signed it. */
  readonly caller: string | undefined;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Flavour {
  readonly metadata: Record<string, unknown>;
}

/**
 * An extension server: a namespaced resource `flavours` with get, list, watch, create, delete and deletecollection,
 * discovery, OpenAPI, and an upgrade at the subresource `taste`, where it echoes. It serves only callers with a
 * certificate of its request-header authority. Tests can replace the answer of a path.
 */
export class ExtensionServer {
  readonly arrived: Arrived[] = [];
  /** Answers that tests replaced, by path without the query. */
  readonly behaviours = new Map<string, Handler>();
  readonly sockets = new Set<Socket>();
  /** The number of connections since the start. */
  connections = 0;
  resources: Record<string, unknown>[] = [
    {
      name: 'flavours',
      singularName: 'flavour',
      namespaced: true,
      kind: 'Flavour',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'watch'],
      shortNames: ['fl'],
    },
    { name: 'flavours/taste', singularName: '', namespaced: true, kind: 'Flavour', verbs: ['get'] },
  ];
  definitions: Record<string, unknown> = {
    'dev.example.flavours.v1.Flavour': {
      type: 'object',
      properties: { metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' } },
      'x-kubernetes-group-version-kind': [{ group, version, kind: 'Flavour' }],
    },
    // This definition differs from the server's own.
    'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': { type: 'object', description: 'Of the extension.' },
  };
  private readonly objects = new Map<string, Flavour>();
  private readonly watchers = new Set<{ readonly namespace: string; readonly response: ServerResponse }>();
  private versionCount = 1;

  private constructor(
    private readonly server: Server,
    readonly authority: TestIdentity,
  ) {}

  /** @param proxies authority of the certificates that callers show, in PEM */
  static async start(proxies: string, names: readonly string[]): Promise<ExtensionServer> {
    const authority = await TestIdentity.root('extension');
    const identity = await authority.issue({
      subject: [{ CN: ['flavours'] }],
      usages: [serverAuth],
      // The certificate has only the name of the service, so that clients can't verify it by the address.
      names: names.map((value) => ({ type: 'dns', value }) as const),
    });
    const server = createServer({
      cert: identity.chain,
      key: identity.key,
      ca: proxies,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const extension = new ExtensionServer(server, authority);
    server.on('connection', (socket: Socket) => {
      extension.connections++;
      extension.sockets.add(socket);
      socket.once('close', () => extension.sockets.delete(socket));
    });
    server.on('request', (request, response) => extension.handle(request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      extension.upgrade(request, socket, head),
    );
    server.on('tlsClientError', () => undefined);
    // A fixed port, because restart() releases it and uses it again.
    server.listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    return extension;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get caBundle(): string {
    return Buffer.from(this.authority.cert).toString('base64');
  }

  /** The last request for a path. */
  last(path: string): Arrived | undefined {
    return this.arrived.findLast(({ url }) => url.split('?')[0] === path);
  }

  get openWatches(): number {
    return this.watchers.size;
  }

  /** Stops, closing all connections, and starts again at the same address. */
  async restart(whileAway: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { port } = this;
    await this.stop();
    await whileAway();
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  private note(request: IncomingMessage): Arrived {
    const socket = request.socket as TLSSocket;
    const { CN } = socket.authorized ? socket.getPeerCertificate().subject : {};
    const { method = '', url = '', headers, rawHeaders } = request;
    const arrived: Arrived = { method, url, headers, rawHeaders, caller: Array.isArray(CN) ? CN[0] : CN };
    this.arrived.push(arrived);
    return arrived;
  }

  private handle(request: IncomingMessage, response: ServerResponse): unknown {
    const { caller } = this.note(request);
    const url = new URL(request.url ?? '/', 'https://x');
    const behaviour = this.behaviours.get(url.pathname);
    if (behaviour !== undefined) {
      behaviour(request, response);
      return undefined;
    }
    if (caller === undefined) return answer(response, 401, { message: 'not from a proxy' });
    if (url.pathname === groupPath) {
      const resources = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}` };
      return answer(response, 200, { ...resources, resources: this.resources });
    }
    if (url.pathname === '/openapi/v2') return this.swagger(request, response);
    if (url.pathname === '/openapi/v3') {
      const hash = createHash('sha256').update(JSON.stringify(this.definitions)).digest('hex').slice(0, 16);
      const at = `/openapi/v3${groupPath}`;
      return answer(response, 200, { paths: { [groupPath.slice(1)]: { serverRelativeURL: `${at}?hash=${hash}` } } });
    }
    if (url.pathname === `/openapi/v3${groupPath}`) {
      const info = { title: 'Flavours', version: '1' };
      return answer(response, 200, { openapi: '3.0.0', info, paths: {}, components: { schemas: {} } });
    }
    const found = /^\/apis\/[^/]+\/v1(?:\/namespaces\/([^/]+))?\/flavours(?:\/([^/]+))?$/.exec(url.pathname);
    if (found === null) return answer(response, 404, { message: 'no such path' });
    const [, namespace = '', name] = found;
    if (request.method === 'POST') {
      readJson(request, (body) => this.create(namespace, body, response));
      return undefined;
    }
    if (request.method === 'DELETE') return this.remove(namespace, name, response);
    if (name !== undefined) {
      const object = this.objects.get(`${namespace}/${name}`);
      return answer(response, object === undefined ? 404 : 200, object ?? { message: 'not found' });
    }
    if (url.searchParams.has('watch')) return this.watch(namespace, response);
    const items = [...this.objects.values()].filter(
      ({ metadata }) => namespace === '' || metadata.namespace === namespace,
    );
    return answer(response, 200, {
      ...typed('FlavourList'),
      metadata: { resourceVersion: String(this.versionCount) },
      items,
    });
  }

  private swagger(request: IncomingMessage, response: ServerResponse): void {
    const operation = {
      operationId: 'listFlavours',
      responses: { 200: { schema: { $ref: '#/definitions/dev.example.flavours.v1.Flavour' } } },
    };
    const paths = { [`${groupPath}/flavours`]: { get: operation }, '/healthz': { get: operation } };
    const text = JSON.stringify({ swagger: '2.0', info: { title: 'x' }, paths, definitions: this.definitions });
    const etag = `"${createHash('sha256').update(text).digest('hex')}"`;
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', etag }).end(text);
  }

  private create(namespace: string, body: Flavour, response: ServerResponse): void {
    this.versionCount++;
    const metadata = { ...body.metadata, namespace, resourceVersion: String(this.versionCount) };
    const object = { ...body, ...typed('Flavour'), metadata };
    this.objects.set(`${namespace}/${body.metadata.name}`, object);
    this.send('ADDED', namespace, object);
    answer(response, 201, object);
  }

  private remove(namespace: string, name: string | undefined, response: ServerResponse): void {
    for (const [key, object] of this.objects) {
      if (object.metadata.namespace !== namespace || (name !== undefined && object.metadata.name !== name)) continue;
      this.objects.delete(key);
      this.send('DELETED', namespace, object);
    }
    answer(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
  }

  private watch(namespace: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watcher = { namespace, response };
    this.watchers.add(watcher);
    response.once('close', () => this.watchers.delete(watcher));
  }

  private send(type: string, namespace: string, object: object): void {
    for (const watcher of this.watchers) {
      if (watcher.namespace === '' || watcher.namespace === namespace) {
        watcher.response.write(`${JSON.stringify({ type, object })}\n`);
      }
    }
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.note(request);
    socket.on('error', () => socket.destroy());
    const protocol = request.headers.upgrade ?? '';
    if (!(request.url ?? '').split('?')[0]?.endsWith('/taste')) {
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno');
      return;
    }
    const key = request.headers['sec-websocket-key'] ?? '';
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    const offered = request.headers['sec-websocket-protocol']?.split(',')[0];
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'connection: Upgrade',
      `upgrade: ${protocol}`,
      ...(key === '' ? [] : [`sec-websocket-accept: ${accept}`]),
      ...(offered === undefined ? [] : [`sec-websocket-protocol: ${offered}`]),
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    if (head.length > 0) socket.write(head);
    socket.pipe(socket);
  }
}

function typed(kind: string): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: `${group}/${version}`, kind };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function readJson(request: IncomingMessage, use: (body: Flavour) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => use(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Flavour));
}
