import { writePieces } from './compression.js';
import { type Recipient, takeOver, withVary } from './respond.js';

/** Shorter answers go out in one write, with their length. */
const wholeBytes = 256 * 1024;
/** Pieces are joined until they have this many bytes, because each write costs as much as thousands of bytes. */
const writtenBytes = 64 * 1024;

/**
 * Sends a body whose pieces are compressed already, at the pace of the client. An error of `pieces` before anything was
 * sent is rethrown and becomes an error response; later the connection (or stream) is cut. `pieces` is always ended.
 */
export async function sendGzipped(to: Recipient, contentType: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  let length = 0;
  let done = false;
  try {
    while (!done && length <= wholeBytes) {
      const next = await iterator.next();
      if (next.done === true) done = true;
      else {
        begun.push(next.value);
        length += next.value.length;
      }
    }
    const { context, reply } = to;
    // The request may have timed out and got its response already.
    if (reply.sent) return;
    const headers = takeOver(context, reply, contentType);
    withVary(headers);
    headers['content-encoding'] = 'gzip';
    if (done) {
      headers['content-length'] = length;
      reply.raw.writeHead(200, headers);
      reply.raw.end(Buffer.concat(begun, length));
      return;
    }
    reply.raw.writeHead(200, headers);
    await writePieces(reply.raw, joined(begun, iterator), false, reply.request.plinthContext);
  } finally {
    if (!done) await iterator.return?.();
  }
}

async function* joined(begun: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.concat(begun);
  let pieces: Buffer[] = [];
  let length = 0;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    pieces.push(next.value);
    length += next.value.length;
    if (length < writtenBytes) continue;
    yield Buffer.concat(pieces, length);
    pieces = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(pieces, length);
}
