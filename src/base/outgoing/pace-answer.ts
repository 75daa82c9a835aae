import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { followPieces } from '../machinery/body-pieces.js';
import { type PacedSocket, ReadPace, unitsOf } from '../machinery/read-pace.js';

/** What a piece of a body costs besides its bytes, in microseconds or less. */
const pieceUnits = 4;
/** Servers send many pieces that are smaller only if they want to be expensive. */
const smallBytes = 64;

/** A party is the address of a server. */
const pace = new ReadPace({ socketUnits: 512, partyUnits: 8_192, delayMs: 0.01 });
const sockets = new WeakMap<Socket, PacedSocket>();

/**
 * Reads the body of another server's response at a pace: a server could send it in chunks of one byte, thousands of which
 * arrive in one turn of the event loop. Must be called when the response begins.
 */
export function paceAnswer(response: IncomingMessage): void {
  const { socket } = response as { readonly socket: Socket | null };
  if (socket === null || socket.destroyed) return;
  let paced = sockets.get(socket);
  if (paced === undefined) {
    paced = pace.keep(socket, socket.remoteAddress ?? '');
    sockets.set(socket, paced);
  }
  const kept = paced;
  followPieces(response, (bytes) => {
    pace.brought(kept, pieceUnits + unitsOf(bytes), bytes > 0 && bytes < smallBytes ? pieceUnits : 0);
  });
}
