import type { Http2SecureServer } from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerClientError } from './client-errors.js';
import type { StatusFilter } from './status.filter.js';

/**
 * Longest request head that is answered, in bytes as HTTP/2 counts them: each field with 32 bytes on top (RFC 9113
 * section 6.5.2).
 */
export const maxHeaderBytes = 64 * 1024;
/**
 * What the parsers take: with room above the limit, so that a head that is somewhat too long gets the same answer in
 * both HTTP versions instead of a broken HTTP/2 stream.
 */
const parsedHeaderBytes = 2 * maxHeaderBytes;
/** No head within the limit has more fields than this. */
const maxHeaderFields = parsedHeaderBytes / 32;
/** Longer than the idle times of usual clients, so that it is they who close, never between two requests. */
const keepAliveMs = 120_000;
/** A client that takes longer for its TLS handshake is none. */
const handshakeMs = 15_000;
/** How long a head may take over HTTP/1.1. */
const headMs = 60_000;
/** How long a client may go on sending the body of a request that was answered. */
const refusedBodyMs = 30_000;
/** When the system starts to ask whether a silent peer is still there. */
const probeAfterMs = 30_000;
/** Streams of one HTTP/2 connection unless configured: what clients of this API expect. */
const defaultStreams = 250;
/**
 * Memory one HTTP/2 connection may use, in megabytes. All requests of a client share a connection, long lists among
 * them, and above the limit new ones are refused.
 */
const sessionMegabytes = 256;

/** What the listener depends on. */
export interface ListenerOptions {
  /** Certificates of the server and the authorities of clients. */
  readonly tls: SecureContextOptions & { readonly requestCert?: boolean; readonly rejectUnauthorized?: boolean };
  /** 0: the default. */
  readonly http2MaxStreamsPerConnection: number;
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
}

/**
 * Lets HTTP/1.1 heads have as many fields as fit into their size. By itself Node stops at a thousand: it refuses the
 * request, or in other releases leaves out the rest without a word, and with it what a proxy in front adds at the end to
 * say who a request is from.
 */
export function keepAllFields(server: Http2SecureServer): void {
  // 0: no limit but the size. It holds for HTTP/1.1 connections of such a server too, which its type doesn't say.
  (server as Http2SecureServer & { maxHeadersCount?: number }).maxHeadersCount = 0;
}

/** Options of a Fastify instance that say how requests find their routes. */
export function routingOptions(maxBodyBytes: number, filter: Pick<StatusFilter, 'answer'>): object {
  return {
    bodyLimit: maxBodyBytes,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    // The hook makes what is needed; ids and the like cost time on every request.
    genReqId: () => '',
    // What fails before any route is found, such as a path that is no valid percent-encoding.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      filter.answer(error, request, reply),
  };
}

/** Bodies stay unread until the handler asks for them, after authorization. */
export function leaveBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request: unknown, _payload: unknown, done: (error: null) => void) => done(null));
}

/** Options of the Fastify instance: one TLS listener for HTTP/1.1 and HTTP/2. */
export function listenerOptions(options: ListenerOptions, filter: Pick<StatusFilter, 'answer'>): object {
  const { http2MaxStreamsPerConnection: streams } = options;
  return {
    http2: true,
    https: {
      allowHTTP1: true,
      ...options.tls,
      // Events of a watch are small writes: they must not wait for each other.
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      handshakeTimeout: handshakeMs,
      maxHeaderSize: parsedHeaderBytes,
      http1Options: {
        maxHeaderSize: parsedHeaderBytes,
        keepAliveTimeout: keepAliveMs,
        // A slow body is up to the time limit of requests, which ends this much earlier. What is left are bodies of
        // requests that were refused unread.
        requestTimeout: Math.max(options.requestTimeoutMs, headMs) + refusedBodyMs,
        headersTimeout: headMs,
      },
      // A user of many groups has a field for each of them.
      maxHeaderListPairs: maxHeaderFields,
      maxSessionMemory: sessionMegabytes,
      // Fields with blanks around their values would be dropped, and the request would go on without them: as its sender,
      // say, in place of the user that was to be impersonated. Whoever reads a value takes the blanks off.
      strictFieldWhitespaceValidation: false,
      settings: {
        maxHeaderListSize: parsedHeaderBytes,
        maxConcurrentStreams: streams === 0 ? defaultStreams : streams,
      },
    },
    // Silence is normal while a client only watches; peers that are gone are found out by TCP.
    http2SessionTimeout: 0,
    ...routingOptions(options.maxBodyBytes, filter),
    clientErrorHandler: answerClientError,
    return503OnClosing: false,
    forceCloseConnections: false,
  };
}
