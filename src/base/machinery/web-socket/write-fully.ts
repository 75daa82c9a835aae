import type { Duplex } from 'node:stream';

/** Writes pieces as one. Resolves when the other side can take more, or when writing is no longer possible. */
export function writeFully(socket: Duplex, pieces: readonly Buffer[]): Promise<void> {
  if (socket.destroyed || socket.writableEnded) return Promise.resolve();
  socket.cork();
  let isFree = true;
  for (const piece of pieces) if (piece.length > 0) isFree = socket.write(piece);
  socket.uncork();
  if (isFree) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      socket.removeListener('drain', done);
      socket.removeListener('close', done);
      resolve();
    };
    socket.once('drain', done);
    socket.once('close', done);
  });
}
