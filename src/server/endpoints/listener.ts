import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { UnreadRequest } from '../audit/auditor.js';
import { answerClientError } from './client-errors.js';
import type { NoteCut } from './connection-cuts.js';
import type { StatusFilter } from './status.filter.js';
import { TrailerlessResponse } from './trailerless-response.js';

/**
 * Maximum size of a request head, in bytes as HTTP/2 counts them: with 32 extra bytes per field (RFC 9113 section
 * 6.5.2).
 */
export const maxHeaderBytes = 64 * 1024;
/**
 * The parsers' limit. It is above {@link maxHeaderBytes}, so that both HTTP versions respond to a slightly longer head
 * in the same way, instead of breaking an HTTP/2 stream.
 */
const parsedHeaderBytes = 2 * maxHeaderBytes;
/** No head within the limit has more fields than this. */
const maxHeaderFields = parsedHeaderBytes / 32;
/**
 * Longer than the idle timeouts of common clients, so that clients close first and never lose a request to a closing
 * connection.
 */
const keepAliveMs = 120_000;
/** A handshake ends earlier, see `HandshakeLimits`: this limit also counts time in which the process stands still. */
const handshakeMs = 300_000;
/** Time limit for receiving an HTTP/1.1 head. */
const headMs = 60_000;
/** How long a client may keep sending the body after the response. */
const refusedBodyMs = 30_000;
/** TCP keep-alive probes a silent peer after this time. */
const probeAfterMs = 30_000;
/** Default number of streams per HTTP/2 connection, which clients of this API expect. */
const defaultStreams = 250;
/** How many streams a client may cancel in the long run; above it, Node ends the connection. */
const resetsPerSecond = 100;
/**
 * Memory that one HTTP/2 connection may use, in megabytes. All requests of a client share a connection, including long
 * lists; above the limit new requests are refused.
 */
const sessionMegabytes = 256;
/**
 * How much of a body a client may send over HTTP/2 before the server has read any of it: what a client far away sends in
 * each round trip. Node's default is 64 KiB.
 */
const streamWindowBytes = 256 * 1024;
/** The same for all bodies of a connection together, which otherwise would share 64 KiB. */
const connectionWindowBytes = 4 * 1024 * 1024;

/** Settings of the listener. */
export interface ListenerOptions {
  /** The server's certificate and the client CA certificates. */
  readonly tls: SecureContextOptions & { readonly requestCert?: boolean; readonly rejectUnauthorized?: boolean };
  /** 0 for the default. */
  readonly http2MaxStreamsPerConnection: number;
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
}

/**
 * Lets HTTP/1.1 heads have as many fields as fit into their size. Node's default limit is a thousand: it refuses the
 * request, or in other releases silently drops the remaining fields. Those include the fields that a proxy appends to
 * identify the user.
 */
export function keepAllFields(server: Http2SecureServer): void {
  // 0: only the size is limited. This also applies to HTTP/1.1 connections of this server, although its type doesn't
  // say so.
  (server as Http2SecureServer & { maxHeadersCount?: number }).maxHeadersCount = 0;
}

/** Lets the requests of an HTTP/2 connection send more of their bodies ahead than a single one may. */
export function receiveAhead(server: Http2SecureServer): void {
  server.on('session', (session) => session.setLocalWindowSize(connectionWindowBytes));
}

/** Offers clients only HTTP/1.1. Node has no option for this: it offers HTTP/2 on every listener that supports it. */
export function speakHttp1Only(server: Http2SecureServer): void {
  const name = 'http/1.1';
  (server as Http2SecureServer & { ALPNProtocols?: Buffer }).ALPNProtocols = Buffer.from([
    name.length,
    ...Buffer.from(name),
  ]);
}

/** Options of a Fastify instance for routing requests. */
export function routingOptions(maxBodyBytes: number, filter: Pick<StatusFilter, 'answer'>): object {
  return {
    bodyLimit: maxBodyBytes,
    exposeHeadRoutes: true,
    // The hook parses the query. A second copy of it would be kept as long as the request lasts.
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true, querystringParser: () => noQuery },
    // The hook creates request ids itself; the defaults would cost time on every request.
    genReqId: () => '',
    // No route has a schema: without these, libraries that compile schemas would be loaded at every start.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // For errors before any route is found, such as invalid percent-encoding in a path.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      filter.answer(error, request, reply),
  };
}

const noQuery = Object.freeze({});

function noCompiler(): never {
  throw new Error('routes have no schemas');
}

/**
 * Leaves bodies unread until the handler reads them, after authorization: Fastify is configured as if no method had a
 * body. So it neither checks their Content-Type nor makes an asynchronous resource for each.
 */
export function leaveBodies(fastify: FastifyInstance): void {
  for (const method of [...fastify.supportedMethods]) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** Options of the Fastify instance: one TLS listener for HTTP/1.1 and HTTP/2. */
export function listenerOptions(
  options: ListenerOptions,
  filter: Pick<StatusFilter, 'answer'>,
  note?: (refused: UnreadRequest) => void,
  noteCut?: NoteCut,
): object {
  const { http2MaxStreamsPerConnection: streams } = options;
  const maxStreams = streams === 0 ? defaultStreams : streams;
  return {
    http2: true,
    https: {
      allowHTTP1: true,
      Http2ServerResponse: TrailerlessResponse,
      ...options.tls,
      // Watch events are small writes, which must not wait for each other.
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      handshakeTimeout: handshakeMs,
      maxHeaderSize: parsedHeaderBytes,
      http1Options: {
        maxHeaderSize: parsedHeaderBytes,
        keepAliveTimeout: keepAliveMs,
        // The request timeout covers slow bodies and ends much earlier than this. This limit is for bodies of requests
        // that were refused unread.
        requestTimeout: Math.max(options.requestTimeoutMs, headMs) + refusedBodyMs,
        headersTimeout: headMs,
      },
      // A user in many groups has one field per group.
      maxHeaderListPairs: maxHeaderFields,
      maxSessionMemory: sessionMegabytes,
      // All streams of a connection may be cancelled at once. A client that opens and cancels more in a burst would
      // hold up others: each request costs a part of a millisecond until it is known to be cancelled.
      streamResetBurst: Math.max(defaultStreams, maxStreams),
      streamResetRate: resetsPerSecond,
      // With strict validation, fields with spaces around their values would be dropped. The request would continue
      // without them: for example as its sender, instead of the user to impersonate. Code that reads a value removes
      // the spaces.
      strictFieldWhitespaceValidation: false,
      settings: {
        initialWindowSize: streamWindowBytes,
        maxHeaderListSize: parsedHeaderBytes,
        maxConcurrentStreams: maxStreams,
      },
    },
    // Silence is normal on a connection with watches only; TCP detects lost peers.
    http2SessionTimeout: 0,
    ...routingOptions(options.maxBodyBytes, filter),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      answerClientError(error, socket, note, noteCut),
    return503OnClosing: false,
    forceCloseConnections: false,
  };
}
