import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import { endConnection } from '../../base/machinery/end-connection.js';
import { restrictUpgrades } from '../../base/machinery/restrict-upgrades.js';
import { badRequestError, StatusError } from '../../base/machinery/status-error.js';
import type { Logger } from '../../base/observability/logger.js';

/** A connection whose client requested another protocol. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /**
   * Whether the user is identified by a token alone. Browsers send a certificate for any page, so a page can add an
   * invalid token, and the request would still run as the user with the certificate.
   */
  readonly reliesOnToken: boolean;
}

/** A request for another protocol that may have to wait before it begins. */
export interface PacedUpgrade {
  readonly connection: object;
  readonly begin: () => void;
  readonly isCancelled: () => boolean;
}

/** Browsers can't set headers, so a token is sent among the requested protocols, as base64url. */
const tokenProtocol = 'base64url.bearer.authorization.k8s.io.';
const knownProtocols = ['base64.binary.k8s.io', 'binary.k8s.io'];
/** Clients of watches and logs send control frames only. */
const maxPayload = 4096;

/** Watches, and logs of pods. */
const readOverWebSocket = /[?&]watch=|\/watch\/|^\/api\/v1\/namespaces\/[^/?]+\/pods\/[^/?]+\/log(?:\?|$)/;

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
 * Accepts watches and logs over WebSocket (RFC 6455), and any upgraded connection to other servers. An upgrade request passes
 * through the same stages as any other and is refused with an ordinary response; only its handler upgrades the
 * connection. All other upgrades are ignored.
 *
 * @param isRemote whether a path leads to another server
 * @param pace begins each upgrade at its time
 */
export function acceptWebSockets(
  server: Http2SecureServer,
  route: (request: IncomingMessage, response: ServerResponse) => void,
  logger: Pick<Logger, 'error'>,
  isRemote: (url: string) => boolean = () => false,
  pace: (upgrade: PacedUpgrade) => void = ({ begin }) => begin(),
): void {
  const isRead = (request: IncomingMessage) =>
    request.method === 'GET' && isWebSocket(request) && readOverWebSocket.test(request.url ?? '');
  restrictUpgrades(server, (request) => isRead(request) || (isStream(request) && isRemote(request.url ?? '')));
  const begin = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    response.once('finish', () => endConnection(socket));
    response.destroy = () => {
      socket.destroy();
      return response;
    };
    socket.once('close', () => response.emit('close'));
    if (isWebSocket(request)) useTokenProtocol(request);
    const hasCertificate = (request.socket as TLSSocket).getPeerX509Certificate() !== undefined;
    const reliesOnToken = !hasCertificate && request.headers.authorization !== undefined;
    upgrades.set(response, { request, socket, head, reliesOnToken });
    route(request, response);
  };
  const tryToBegin = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // An error here would be uncaught and end the process.
    try {
      begin(request, socket, head);
    } catch (error) {
      logger.error('a connection could not be upgraded', { error });
      socket.destroy();
    }
  };
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    pace({
      connection: socket,
      begin: () => tryToBegin(request, socket, head),
      isCancelled: () => socket.destroyed,
    });
  });
}

/** Whether a request asks for a WebSocket, even with an invalid handshake. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Whether the upgraded connection carries a single stream. Another version of HTTP (`h2c`) would carry requests that
 * nobody has authenticated, on a connection that extension servers trust.
 */
function isStream({ headers }: IncomingMessage): boolean {
  return /^(?:websocket|spdy\/3(?:\.1)?)$/i.test(headers.upgrade ?? '');
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
 * @throws a 400 for an invalid handshake; a 403 for a page of another origin if the request has no token, or if the
 *   browser sent a certificate.
 */
export function wantsWebSocket(response: object): boolean {
  const upgrade = upgrades.get(response);
  if (upgrade === undefined) return false;
  const { headers } = upgrade.request;
  const key = headers['sec-websocket-key'] ?? '';
  if (headers['sec-websocket-version'] !== '13' || !/^[+/0-9A-Za-z]{22}==$/.test(key)) {
    throw badRequestError('the WebSocket handshake is not valid: version 13 and a key of 16 bytes are needed');
  }
  checkOrigin(upgrade);
  return true;
}

/** The subprotocols that a WebSocket client offers, most preferred first, without its token. */
export function offeredProtocols({ request: { headers } }: Upgrade): string[] {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  return offered.filter((name) => name !== '' && !name.startsWith(tokenProtocol));
}

/** The upgrade that the request of a response asks for; undefined when it asks for none. */
export function upgradeOf(response: object): Upgrade | undefined {
  return upgrades.get(response);
}

/**
 * The origin that programs name which need to name one: a library that many clients use asks for an origin, and its
 * examples give this one. A page has it only if it was served by port 80 of the reader's own machine.
 */
const originOfPrograms = 'http://localhost';

/** Throws a 403 for a page of another origin if the request has no token, or if the browser sent a certificate. */
export function checkOrigin({ request: { headers }, reliesOnToken }: Upgrade): void {
  const { origin } = headers;
  if (origin === undefined || reliesOnToken || hostOf(origin) === headers.host) return;
  if (origin !== originOfPrograms || isBrowser(headers)) {
    throw new StatusError('Forbidden', 'pages of another origin need a token, and no client certificate');
  }
}

/** Chromium names no mode for WebSockets. Every browser calls itself `Mozilla`, and a page can't change that. */
function isBrowser(headers: IncomingMessage['headers']): boolean {
  return headers['sec-fetch-mode'] !== undefined || /^\s*Mozilla\//i.test(headers['user-agent'] ?? '');
}

/** Hands the connection over to its new protocol. The response can't be used after this. */
export function releaseSocket(response: ServerResponse): Pick<Upgrade, 'socket' | 'head'> {
  const { socket, head } = upgrades.get(response) as Upgrade;
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
  return { socket, head };
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

/** Responds with 101. The response can't be used after this. */
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
