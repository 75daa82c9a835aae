import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createDeflate, createGunzip, createGzip, createInflate } from 'node:zlib';
import { LinkRewriter } from './link-rewriter.js';
import { rewriteLocation } from './proxied-path.js';

/** Readers and writers of the encodings in which a page can be changed. */
const encodings: Readonly<Record<string, readonly [() => Transform, () => Transform]>> = {
  gzip: [createGunzip, createGzip],
  deflate: [createInflate, createDeflate],
};

/**
 * Whether the links of a response can be changed: it is a whole HTML page, in an encoding that can be read.
 *
 * @param headers of the response, with names in lower case
 */
export function isRewritablePage(
  { statusCode = 0 }: IncomingMessage,
  headers: Readonly<Record<string, string | string[]>>,
): boolean {
  if (statusCode === 204 || statusCode === 206 || statusCode === 304) return false;
  const type = String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase();
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  return type === 'text/html' && (encoding === 'identity' || encoding in encodings);
}

/**
 * The body of a page with links that lead through this server: paths from the root, and URLs of the other server. Relative
 * links lead there anyway.
 *
 * @param own host names and ports that the other server uses for itself
 */
export function rewritePage(response: IncomingMessage, prefix: string, own: readonly string[]): Readable {
  // The prefix is a path that a client has sent, and becomes part of the page.
  const safe = prefix.replace(/["'<>`&]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  const rewriter = new LinkRewriter((url) => rewriteLocation(url, safe, own));
  async function* rewrite(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      const text = rewriter.write(piece.toString('latin1'));
      if (text !== '') yield Buffer.from(text, 'latin1');
    }
    yield Buffer.from(rewriter.end(), 'latin1');
  }
  const codec = encodings[String(response.headers['content-encoding'] ?? '').toLowerCase()];
  // Errors end the last stream, whose reader sees them.
  const ignore = (): void => undefined;
  if (codec === undefined) return pipeline(response, rewrite, ignore) as unknown as Readable;
  const [read, write] = codec;
  return pipeline(response, read(), rewrite, write(), ignore) as unknown as Readable;
}
