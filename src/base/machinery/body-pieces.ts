import type { Readable } from 'node:stream';

/** How many pieces may wait for a reader of a body. */
const mostPieces = 256;

/**
 * Reports the bytes of each piece of a body as it arrives, and 0 at its end. Puts pieces together that wait for a
 * reader: a sender decides how long its pieces are, and each takes more than a hundred bytes of memory. So 64 KiB, which every
 * stream of a connection may leave unread, could be 6 MB.
 */
export function followPieces(body: Readable, arrived: (bytes: number) => void): void {
  const push = body.push;
  let waiting = 0;
  let isJoining = false;
  const join = () => {
    isJoining = false;
    waiting = 1;
    if (!body.destroyed) joinWaiting(body);
  };
  body.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    const takesMore = push.call(body, piece, encoding);
    arrived(piece?.length ?? 0);
    if (piece === null) return takesMore;
    waiting = body.readableLength === 0 ? 0 : waiting + 1;
    if (waiting >= mostPieces && !isJoining) {
      isJoining = true;
      // Not here: it may ask the source for more, which would then stop because of what this push returns, for ever.
      process.nextTick(join);
    }
    return takesMore;
  };
}

/** Whoever listens receives what is read. More than the high water mark must not be asked for: it would rise. */
function joinWaiting(body: Readable): void {
  const bytes = body.read(Math.min(body.readableLength, body.readableHighWaterMark)) as Buffer | null;
  if (bytes !== null && body.listenerCount('data') === 0) body.unshift(bytes);
}
