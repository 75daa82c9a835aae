import type { Duplex } from 'node:stream';

/** For how long bytes of the client are read and discarded before its connection is closed. */
const lingerMs = 1_000;

/**
 * Sends the last bytes of a connection, if any are given, and closes it, even if the client keeps its side open: Node
 * would then keep the connection without limit. Further bytes of the client are discarded for a moment, since closing
 * with unread bytes would reset the connection, and the client might never see the response.
 */
export function endConnection(socket: Duplex, last?: string): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  if (last === undefined) socket.end();
  else socket.end(last);
}
