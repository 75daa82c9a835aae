import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import { badRequestError, StatusError } from '../machinery/status-error.js';
import type { Logger } from '../observability/logger.js';

/** A connection whose client asked to speak WebSocket on it. */
interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /**
   * Who asks is known by a token alone. Beside a certificate, which browsers send for any page, what looks like
   * a token may be made up: the request would still be its reader's.
   */
  readonly reliesOnToken: boolean;
}

/** Browsers can set no header: a token comes among the protocols they ask for, as base64url. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';
const knownProtocols = ['base64.binary.k8s.io', 'binary.k8s.io'];
/** Nothing is expected from clients of a watch but control frames. */
const maxPayload = 4096;

const upgrades = new WeakMap<object, Upgrade>();
const acceptor = new WebSocketServer({
  noServer: true,
  maxPayload,
  perMessageDeflate: false,
  clientTracking: false,
  handleProtocols: (offered) => {
    const protocols = [...offered].filter((name) => !name.startsWith(tokenProtocol));
    return knownProtocols.find((name) => protocols.includes(name)) ?? protocols[0] ?? false;
  },
});

/**
 * Lets watches be asked for over WebSocket (RFC 6455). Such a request takes the way of every other one, so that it is
 * refused by an ordinary answer; only the handler that answers it upgrades the connection. All other wishes to upgrade
 * are not heard, as HTTP allows: the request is answered as if they were not there. So are those of requests with
 * a body, which would have to be read before the first frame.
 */
export function acceptWebSockets(
  server: Http2SecureServer,
  route: (request: IncomingMessage, response: ServerResponse) => void,
  logger: Pick<Logger, 'error'>,
): void {
  const wanted = (request: IncomingMessage) =>
    request.method === 'GET' &&
    request.headers.upgrade?.toLowerCase() === 'websocket' &&
    !hasBody(request) &&
    /[?&]watch=|\/watch\//.test(request.url ?? '');
  // It holds for HTTP/1.1 connections of such a server too, which its type doesn't say.
  (server as unknown as { shouldUpgradeCallback: typeof wanted }).shouldUpgradeCallback = wanted;
  const begin = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    response.once('finish', () => socket.end());
    response.destroy = () => {
      socket.destroy();
      return response;
    };
    socket.on('error', () => socket.destroy());
    socket.once('close', () => response.emit('close'));
    useTokenProtocol(request);
    const hasCertificate = (request.socket as TLSSocket).getPeerX509Certificate() !== undefined;
    const reliesOnToken = !hasCertificate && request.headers.authorization !== undefined;
    upgrades.set(response, { request, socket, head, reliesOnToken });
    route(request, response);
  };
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Nobody else hears what is thrown here, and it would end the process.
    try {
      begin(request, socket, head);
    } catch (error) {
      logger.error('a connection could not be upgraded', { error });
      socket.destroy();
    }
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function useTokenProtocol({ headers }: IncomingMessage): void {
  if (headers.authorization !== undefined) return;
  const protocols = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const encoded = protocols.find((name) => name.startsWith(tokenProtocol))?.slice(tokenProtocol.length);
  if (encoded !== undefined) headers.authorization = `Bearer ${Buffer.from(encoded, 'base64url').toString('utf8')}`;
}

/**
 * Whether the request of a response asks for a WebSocket.
 *
 * @throws a 400 for a handshake that is not valid, a 403 for a page of another origin whose reader has a certificate, or
 * that has no token.
 */
export function wantsWebSocket(response: object): boolean {
  const upgrade = upgrades.get(response);
  if (upgrade === undefined) return false;
  const { headers } = upgrade.request;
  const key = headers['sec-websocket-key'] ?? '';
  if (headers['sec-websocket-version'] !== '13' || !/^[+/0-9A-Za-z]{22}==$/.test(key)) {
    throw badRequestError('the WebSocket handshake is not valid: version 13 and a key of 16 bytes are needed');
  }
  if (headers.origin !== undefined && !upgrade.reliesOnToken && hostOf(headers.origin) !== headers.host) {
    throw new StatusError('Forbidden', 'pages of another origin need a token, and no client certificate');
  }
  return true;
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

/** Answers with 101. The response is of no use from here on. */
export function openWebSocket(response: ServerResponse): { readonly socket: Duplex; readonly webSocket: WebSocket } {
  const { request, socket, head } = upgrades.get(response) as Upgrade;
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
  let opened: WebSocket | undefined;
  acceptor.handleUpgrade(request, socket, head, (webSocket) => {
    opened = webSocket;
  });
  if (opened === undefined) throw badRequestError('the WebSocket handshake is not valid');
  return { socket, webSocket: opened };
}
