import {
  type Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { ExchangeFault } from './exchange-fault.js';
import { isReset } from './is-reset.js';
import { paceAnswer } from './pace-answer.js';
import { Unsent } from './unsent.js';

/** One request to another server whose response is passed on. */
export interface Exchange {
  /** With an agent of `node:https` the connection is encrypted. */
  readonly agent: Agent;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly method: string;
  /** The path with the query, as it is sent. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Streamed as it arrives; undefined for no body. */
  readonly body?: Readable | undefined;
  /** Aborts the request and its response. */
  readonly signal: AbortSignal;
  /** How long a new connection may take, in milliseconds. */
  readonly connectLimitMs: number;
  /** How long the head of the response may take after that, in milliseconds; undefined: as long as the client waits. */
  readonly headLimitMs?: number | undefined;
  /** Whether the other side may switch to the protocol that the headers request. */
  readonly mayUpgrade?: boolean | undefined;
}

export type ExchangeAnswer =
  | { readonly kind: 'response'; readonly response: IncomingMessage }
  | {
      readonly kind: 'upgrade';
      readonly response: IncomingMessage;
      readonly socket: Duplex;
      /** The first bytes of the protocol after the switch. */
      readonly head: Buffer;
    };

const maxHeadBytes = 64 * 1024;
/** The most informational responses that are accepted; servers send a few at most. */
const maxInformational = 32;
/** An agent keeps fewer unused connections, and all of them may be closed by the time that a busy process uses one. */
const mostStale = 32;

/**
 * Sends a request and resolves with the beginning of the response, whatever its status. Redirects are not followed. A
 * read on a kept-alive connection that the other side closed just then is sent again, on another connection.
 *
 * @throws Unsent when the request surely had no effect; otherwise {@link ExchangeFault} or what the connection threw
 */
export async function exchange(call: Exchange): Promise<ExchangeAnswer> {
  for (let stale = 0; ; stale++) {
    try {
      return await attempt(call);
    } catch (error) {
      const mayRepeat = error instanceof Unsent && error.isStale && stale < mostStale;
      if (!mayRepeat || call.signal?.aborted === true) throw error;
    }
  }
}

function attempt(call: Exchange): Promise<ExchangeAnswer> {
  const { agent, method, headers, body, connectLimitMs, headLimitMs } = call;
  const isEncrypted = agent instanceof HttpsAgent;
  return new Promise((resolve, reject) => {
    let isBegun = false;
    let informational = 0;
    let limit: NodeJS.Timeout | undefined;
    const sent: ClientRequest = (isEncrypted ? httpsRequest : httpRequest)({
      agent,
      host: call.host,
      port: call.port,
      method,
      path: call.path,
      headers: framed(headers, body),
      maxHeaderSize: maxHeadBytes,
      signal: call.signal,
    });
    const fail = (error: Error) => {
      clearTimeout(limit);
      body?.unpipe(sent);
      sent.destroy();
      // The other side may have closed a kept-alive connection just when it was used. A request without a body can be
      // repeated, and reads have no effects.
      const isStale = sent.reusedSocket && isReset(error) && body === undefined && isRead(method);
      reject(isBegun && !isStale ? error : new Unsent(error, isStale));
    };
    const limited = (ms: number, text: string) => setTimeout(() => fail(new ExchangeFault(text)), ms);
    limit = limited(connectLimitMs, 'dial tcp: i/o timeout');
    const begin = () => {
      isBegun = true;
      clearTimeout(limit);
      if (headLimitMs !== undefined) limit = limited(headLimitMs, 'timeout awaiting response headers');
      if (body === undefined) sent.end();
      else body.pipe(sent);
    };
    const settle = (answer: ExchangeAnswer) => {
      clearTimeout(limit);
      resolve(answer);
    };
    // Also listens after the response began: a broken connection then shows in the response stream.
    sent.on('error', fail);
    sent.once('socket', (socket: Duplex) => {
      if (sent.reusedSocket) begin();
      else socket.once(isEncrypted ? 'secureConnect' : 'connect', begin);
    });
    sent.on('information', () => {
      informational++;
      if (informational > maxInformational) fail(new ExchangeFault('too many informational responses'));
    });
    sent.once('response', (response) => {
      paceAnswer(response);
      settle({ kind: 'response', response });
    });
    sent.once('upgrade', (response, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (call.mayUpgrade === true && switchesAsAsked(response, headers)) {
        settle({ kind: 'upgrade', response, socket, head });
        return;
      }
      socket.destroy();
      fail(new ExchangeFault('the backend switched to a protocol that was not asked for'));
    });
  });
}

/**
 * Without a length or chunked encoding, Node still sends the body of a GET or DELETE: the other side would take it for
 * the next request.
 */
function framed(headers: OutgoingHttpHeaders, body: Readable | undefined): OutgoingHttpHeaders {
  if (body === undefined) return headers;
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (names.has('content-length') || names.has('transfer-encoding')) return headers;
  return { ...headers, 'transfer-encoding': 'chunked' };
}

function switchesAsAsked({ headers }: IncomingMessage, asked: OutgoingHttpHeaders): boolean {
  return headers.upgrade !== undefined && headers.upgrade.toLowerCase() === String(asked.upgrade).toLowerCase();
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
