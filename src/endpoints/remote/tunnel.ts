import type { ServerResponse } from 'node:http';
import { type Duplex, Transform } from 'node:stream';
import { answerHeaders } from '../../aggregation/forwarded-headers.js';
import type { ExchangeAnswer } from '../../outgoing/exchange.js';
import { releaseSocket } from '../web-sockets.js';

type Upgraded = Extract<ExchangeAnswer, { readonly kind: 'upgrade' }>;

/** Awaited before so many bytes are written; undefined: no limit. */
export type Throttle = ((bytes: number) => Promise<void>) | undefined;

/** After one side has ended, the other one may be silent for so long. */
export const halfClosedMs = 60_000;

/**
 * Answers 101 and joins both connections: bytes go through unread, each side at the pace of the other. Resolves when
 * both are closed. The response can't be used after this.
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
  if (head.length > 0) client.write(head);
  if (early.length > 0) backend.write(early);
  await joinSockets(client, backend, signal, throttle);
}

/** Passes bytes on in both directions until both have ended, one of them breaks, or the signal ends them. */
async function joinSockets(client: Duplex, backend: Duplex, signal: AbortSignal, throttle: Throttle): Promise<void> {
  const close = () => {
    client.destroy();
    backend.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  let ended = 0;
  const closed = [client, backend].map(
    (socket) =>
      new Promise<void>((resolve) => {
        // What one side has said until its end is answered; Node would end both directions at once.
        socket.allowHalfOpen = true;
        socket.once('end', () => {
          ended++;
          limitSilence([client, backend], close);
        });
        if (socket.destroyed) resolve();
        socket.once('close', () => {
          // A side that has ended in both directions has said everything; the other one still reads it.
          if (ended < 2) close();
          resolve();
        });
        socket.once('error', close);
      }),
  );
  flow(backend, client, throttle);
  flow(client, backend, throttle);
  if (signal.aborted || client.destroyed || backend.destroyed) close();
  await Promise.all(closed);
  signal.removeEventListener('abort', close);
}

function flow(from: Duplex, to: Duplex, throttle: Throttle): void {
  if (throttle === undefined) {
    from.pipe(to);
    return;
  }
  const slowed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      throttle(chunk.length).then(() => done(null, chunk), done);
    },
  });
  from.pipe(slowed).pipe(to);
}

/** The rest of a half-closed conversation ends when nothing more comes: nobody else would notice a peer that has left. */
function limitSilence(sockets: readonly Duplex[], close: () => void): void {
  for (const socket of sockets) {
    const timed = socket as Duplex & { setTimeout?: (ms: number, listener: () => void) => void };
    timed.setTimeout?.(halfClosedMs, close);
  }
}
