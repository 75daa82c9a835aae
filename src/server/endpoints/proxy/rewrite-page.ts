import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createDeflate, createGunzip, createGzip, createInflate, createInflateRaw } from 'node:zlib';
import { Turn } from '../../../base/machinery/turns.js';
import { LinkRewriter } from './link-rewriter.js';
import { rewriteLocation } from './proxied-path.js';

type Decoder = Transform | ((pieces: AsyncIterable<Buffer>) => AsyncIterable<Buffer>);

/** Readers and writers of the encodings in which a page can be changed. */
const encodings: ReadonlyMap<string, readonly [() => Decoder, () => Transform]> = new Map([
  ['gzip', [createGunzip, createGzip]],
  ['deflate', [() => inflated, createDeflate]],
]);

/** A page is read in pieces of this size: one that consists of links takes a millisecond for each. */
const pieceBytes = 4 * 1024;
/** Pieces are sent together up to this size, since each write has its own cost. */
const sentCharacters = 64 * 1024;
/** The compression method that the first byte of the format of zlib names (RFC 1950 section 2.2). */
const zlibMethod = 8;
/** Errors end the last stream of a pipeline, whose reader sees them. */
const ignore = (): void => undefined;

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
  return type === 'text/html' && (encoding === 'identity' || encodings.has(encoding));
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
  async function* rewrite(pages: AsyncIterable<Buffer>) {
    const turn = new Turn();
    let text = '';
    for await (const page of pages) {
      for (let from = 0; from < page.length; from += pieceBytes) {
        text += rewriter.write(page.toString('latin1', from, Math.min(from + pieceBytes, page.length)));
        if (turn.isOver) await turn.next();
        if (text.length < sentCharacters) continue;
        yield Buffer.from(text, 'latin1');
        text = '';
      }
      // The rest of the page may come much later.
      if (text !== '') yield Buffer.from(text, 'latin1');
      text = '';
    }
    yield Buffer.from(rewriter.end(), 'latin1');
  }
  const codec = encodings.get(String(response.headers['content-encoding'] ?? '').toLowerCase());
  if (codec === undefined) return pipeline(response, rewrite, ignore) as unknown as Readable;
  const [read, write] = codec;
  return pipeline(response, read() as Transform, rewrite, write(), ignore) as unknown as Readable;
}

/** Reads the format of zlib, which `deflate` means, and bare deflate data, which some servers send under this name. */
async function* inflated(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return;
  // Bare data would have to begin with a stored block whose padding is not empty.
  const isWrapped = ((first.value[0] ?? 0) & 0x0f) === zlibMethod;
  async function* all() {
    yield first.value as Buffer;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  yield* pipeline(all, isWrapped ? createInflate() : createInflateRaw(), ignore) as unknown as Readable;
}
