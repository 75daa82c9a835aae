import type { ServerResponse } from 'node:http';
import { type Duplex, Transform } from 'node:stream';
import { pingFrame } from '../../../base/machinery/spdy/spdy-frames.js';
import { type FramedProtocol, FrameEnds, framedProtocol } from '../../../base/machinery/web-socket/frame-ends.js';
import { frameHead, opcodes } from '../../../base/machinery/web-socket/web-socket-frames.js';
import type { ExchangeAnswer } from '../../../base/outgoing/exchange.js';
import { answerHeaders } from '../../aggregation/forwarded-headers.js';
import { releaseSocket } from '../web-sockets.js';

type Upgraded = Extract<ExchangeAnswer, { readonly kind: 'upgrade' }>;

/** Awaited before the given number of bytes is written; undefined for no limit. */
export type Throttle = ((bytes: number) => Promise<void>) | undefined;

/** Time limits for the end of a tunnel's connections, in milliseconds. */
export interface TunnelLimits {
  /** How long the other side may be silent after one side has ended. */
  readonly halfClosedMs: number;
  /** How often a client is pinged while nothing is read from it. */
  readonly askMs: number;
}

export const tunnelLimits: TunnelLimits = { halfClosedMs: 60_000, askMs: 5000 };

/**
 * A ping id that the peers' own pings do not reach, so that the server ignores the reply to our ping, which the tunnel
 * forwards to it.
 */
const pingId = 0x7fff_fffe;

/**
 * Responds with 101 and joins both connections: bytes are forwarded unchanged, each direction at the pace of its
 * receiver. Resolves when both are closed. The response can't be used after this.
 */
export async function openTunnel(
  response: ServerResponse,
  answer: Upgraded,
  signal: AbortSignal,
  throttle?: Throttle,
): Promise<void> {
  const { socket: client, head: early } = releaseSocket(response);
  const { socket: backend, head } = answer;
  const headers = Object.entries(answerHeaders(answer.response.rawHeaders)).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  );
  const lines = ['connection: Upgrade\r\n', `upgrade: ${answer.response.headers.upgrade ?? ''}\r\n`, ...headers];
  client.write(Buffer.from(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1'));
  const protocol = framedProtocol(answer.response.headers.upgrade ?? '');
  const frames = protocol === undefined ? undefined : new FrameEnds(protocol);
  frames?.pass(head);
  if (head.length > 0) client.write(head);
  if (early.length > 0) backend.write(early);
  await joinSockets(client, backend, { signal, throttle, frames });
}

/** @param frames follows the frames sent to the client so far; undefined: the client can't be pinged */
export interface Joint {
  readonly signal: AbortSignal;
  readonly throttle?: Throttle;
  readonly frames: FrameEnds | undefined;
  readonly limits?: TunnelLimits;
}

/**
 * Forwards bytes in both directions until both connections have ended, one of them breaks, or the signal is aborted.
 */
export async function joinSockets(
  client: Duplex,
  backend: Duplex,
  { signal, throttle, frames, limits = tunnelLimits }: Joint,
): Promise<void> {
  const close = () => {
    client.destroy();
    backend.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  let ended = 0;
  const closed = [client, backend].map(
    (socket) =>
      new Promise<void>((resolve) => {
        // The other side can still send after one side has ended; Node would end both directions at once.
        socket.allowHalfOpen = true;
        socket.once('end', () => {
          ended++;
          limitSilence([client, backend], limits.halfClosedMs, close);
        });
        if (socket.destroyed) resolve();
        socket.once('close', () => {
          // A connection that has ended in both directions has sent everything, but the other one may still be reading.
          if (ended < 2) close();
          resolve();
        });
        socket.once('error', close);
      }),
  );
  const isPassed = flow(backend, client, throttle, (chunk) => frames?.pass(chunk));
  flow(client, backend, throttle);
  const asking =
    frames === undefined
      ? undefined
      : setInterval(() => {
          if (ended === 0 && backend.writableNeedDrain && frames.isBetween && isPassed()) ask(client, frames.protocol);
        }, limits.askMs);
  if (signal.aborted || client.destroyed || backend.destroyed) close();
  await Promise.all(closed);
  clearInterval(asking);
  signal.removeEventListener('abort', close);
}

/** Returns a function that checks whether all received data was written to the other side. */
function flow(from: Duplex, to: Duplex, throttle: Throttle, note?: (chunk: Buffer) => void): () => boolean {
  if (throttle === undefined) {
    if (note !== undefined) from.on('data', note);
    from.pipe(to);
    return () => from.readableLength === 0;
  }
  const slowed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      throttle(chunk.length).then(() => done(null, chunk), done);
    },
  });
  if (note !== undefined) slowed.on('data', note);
  from.pipe(slowed).pipe(to);
  return () => from.readableLength + slowed.writableLength + slowed.readableLength === 0;
}

/**
 * Pings a client. While the other side accepts no more data, nothing is read from the client, so only a write can
 * reveal that its connection is dead.
 */
function ask(client: Duplex, protocol: FramedProtocol): void {
  if (client.destroyed || client.writableEnded || client.writableLength > 0) return;
  client.write(protocol === 'spdy' ? pingFrame(pingId) : frameHead(opcodes.ping, 0));
}

/** Ends a half-closed connection when no more data arrives: nothing else would detect a peer that has gone. */
function limitSilence(sockets: readonly Duplex[], ms: number, close: () => void): void {
  for (const socket of sockets) {
    const timed = socket as Duplex & { setTimeout?: (ms: number, listener: () => void) => void };
    timed.setTimeout?.(ms, close);
  }
}
