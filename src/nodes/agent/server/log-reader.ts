import type { promises as fs } from 'node:fs';

/** The requested part of a log. Times are milliseconds since the epoch. */
export interface LogQuery {
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly since: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

export interface LogSource {
  /** Opens the present file of the log. */
  readonly open: () => Promise<fs.FileHandle>;
  /** Whether the container still runs, so that lines may follow. */
  readonly isLive: () => Promise<boolean>;
  /** Resolves after a while, or when the log has grown. */
  readonly wait: () => Promise<void>;
  readonly signal: AbortSignal;
}

const chunkBytes = 64 * 1024;
/** Runtimes write entries of some kilobytes. A longer entry was written by another program and is left out. */
const longestEntryBytes = 1024 * 1024;
const newline = 10;

/**
 * The pieces of a log in the form in which they are sent. Unless the log is followed, it ends where the log ended at the beginning,
 * however much is written meanwhile.
 */
export async function* readLog(source: LogSource, query: LogQuery): AsyncGenerator<Buffer> {
  let left = query.limitBytes ?? Number.POSITIVE_INFINITY;
  for await (const piece of linesOf(source, query)) {
    if (piece.length >= left) {
      yield piece.subarray(0, left);
      return;
    }
    left -= piece.length;
    yield piece;
  }
}

async function* linesOf(source: LogSource, query: LogQuery): AsyncGenerator<Buffer> {
  let handle = await source.open();
  try {
    const { size } = await handle.stat();
    const end = query.follow ? Number.POSITIVE_INFINITY : size;
    let position = query.tailLines === undefined ? 0 : await tailPosition(handle, size, query.tailLines, query);
    let rest: Buffer = Buffer.alloc(0);
    let isInLongEntry = false;
    while (!source.signal.aborted) {
      const length = Math.min(chunkBytes, end - position);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
      if (bytesRead > 0) {
        position += bytesRead;
        let chunk = buffer.subarray(0, bytesRead);
        if (isInLongEntry) {
          const entryEnd = chunk.indexOf(newline);
          if (entryEnd < 0) continue;
          chunk = chunk.subarray(entryEnd + 1);
        }
        const { pieces, rest: open } = split(Buffer.concat([rest, chunk]), query);
        isInLongEntry = open.length > longestEntryBytes;
        rest = isInLongEntry ? Buffer.alloc(0) : open;
        if (pieces.length > 0) yield pieces;
        continue;
      }
      if (!query.follow) return;
      const isLive = await source.isLive();
      const next = await rotated(handle, source.open, position);
      if (next !== undefined) {
        await handle.close();
        handle = next;
        position = 0;
        rest = Buffer.alloc(0);
        isInLongEntry = false;
      } else if (!isLive && (await handle.stat()).size <= position) return;
      else if (isLive) await source.wait();
    }
  } finally {
    await handle.close();
  }
}

/** The file that replaced an open one whose end was reached. */
async function rotated(
  handle: fs.FileHandle,
  open: LogSource['open'],
  position: number,
): Promise<fs.FileHandle | undefined> {
  const known = await handle.stat();
  if (known.size > position) return undefined;
  const present = await open().catch(() => undefined);
  if (present === undefined) return undefined;
  if ((await present.stat()).ino !== known.ino) return present;
  await present.close();
  return undefined;
}

/** Whole lines in the form in which they are sent, and the rest of an unfinished line. */
function split(bytes: Buffer, query: LogQuery): { pieces: Buffer; rest: Buffer } {
  const pieces: Buffer[] = [];
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(newline, start);
    if (end < 0) return { pieces: Buffer.concat(pieces), rest: bytes.subarray(start) };
    const line = shown(bytes.subarray(start, end), query);
    if (line !== undefined) pieces.push(...line);
    start = end + 1;
  }
}

/** `<time> <stream> <tag> <text>`: with a tag that begins with P, the line continues in the next entry. */
function shown(line: Buffer, { since, stream, timestamps }: LogQuery): Buffer[] | undefined {
  const first = line.indexOf(32);
  const second = line.indexOf(32, first + 1);
  const third = line.indexOf(32, second + 1);
  if (first < 0 || second < 0 || third < 0) return undefined;
  if (stream !== 'All' && line.toString('latin1', first + 1, second) !== stream.toLowerCase()) return undefined;
  if (since !== undefined && !(Date.parse(line.toString('latin1', 0, first)) >= since)) return undefined;
  const isPartial = line[second + 1] === 80;
  const text = line.subarray(third + 1);
  return [...(timestamps ? [line.subarray(0, first + 1)] : []), text, ...(isPartial ? [] : [Buffer.of(newline)])];
}

/** The position at which the last lines before the end of a log of this size begin. */
async function tailPosition(handle: fs.FileHandle, size: number, lines: number, { stream }: LogQuery): Promise<number> {
  if (lines === 0) return size;
  // If only one stream is requested, lines of the other one don't count; the caller then reads such a log from its
  // beginning and filters it.
  let position = size;
  let found = 0;
  while (position > 0) {
    const length = Math.min(chunkBytes, position);
    position -= length;
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, position);
    for (let at = length - 1; at >= 0; at--) {
      // The newline at the very end belongs to the last line.
      if (buffer[at] !== newline || position + at === size - 1) continue;
      if (stream !== 'All') continue;
      found += 1;
      if (found === lines) return position + at + 1;
    }
  }
  return 0;
}

/** Parses the query of a request. */
export function logQueryOf(query: URLSearchParams, now: number): LogQuery {
  const number = (name: string) => {
    const text = query.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const seconds = number('sinceSeconds');
  const time = Date.parse(query.get('sinceTime') ?? '');
  const stream = query.get('stream');
  return {
    follow: query.get('follow') === 'true',
    timestamps: query.get('timestamps') === 'true',
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
    since: seconds === undefined ? (Number.isNaN(time) ? undefined : time) : now - 1000 * seconds,
    stream: stream === 'Stdout' || stream === 'Stderr' ? stream : 'All',
  };
}
