import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';

/** The most bytes, and the most frames, that are handed to a connection at once. */
const bytesAtOnce = 64 * 1024;
const framesAtOnce = 64;

/**
 * Sends frames, in turns with other work: many of them as one write, since each write costs a record of TLS and a round
 * of the event loop. Resolves when the connection has taken them all, or broke.
 */
export async function sendFrames(
  webSocket: WebSocket,
  socket: Duplex,
  frames: readonly Buffer[],
  binary: boolean,
): Promise<void> {
  for (let next = 0; next < frames.length; ) {
    if (next > 0) await longPieces.turn();
    if (webSocket.readyState !== WebSocket.OPEN || socket.destroyed) return;
    const end = endOfBatch(frames, next);
    const batch = frames.slice(next, end);
    next = end;
    await sendTogether(webSocket, socket, batch, binary);
  }
}

function endOfBatch(frames: readonly Buffer[], start: number): number {
  const most = Math.min(frames.length, start + framesAtOnce);
  let end = start;
  for (let bytes = 0; end < most && bytes < bytesAtOnce; end++) bytes += (frames[end] as Buffer).length;
  return end;
}

/** Resolves even if the connection broke. */
function sendTogether(webSocket: WebSocket, socket: Duplex, frames: readonly Buffer[], binary: boolean): Promise<void> {
  return new Promise((resolve) => {
    socket.cork();
    const last = frames.length - 1;
    for (const [i, frame] of frames.entries()) {
      webSocket.send(frame, { binary }, i === last ? () => resolve() : undefined);
    }
    socket.uncork();
  });
}
