import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { ByteRange, KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import { gzipOptions } from './compression.js';
import { checksumShift, type PackedBytes } from './gzip-pieces.js';

/** Consecutive items of a list. */
export type Run = readonly StoredObject[];

/** From when and until when (exclusively) something is true, in milliseconds of the epoch. */
export interface Validity {
  from: number;
  until: number;
}

/** The encoded items of a run. They depend on nothing but the states of the items, the served kind and the time. */
export interface EncodedRun {
  readonly plain: Buffer;
  /** Undefined if they do not depend on the time. */
  readonly validity?: Validity | undefined;
}

const deflate = promisify(deflateRaw);
/** The blocks end at a byte and do not end the stream. */
const blockOptions = { ...gzipOptions, chunkSize: 16 * 1024, finishFlush: constants.Z_SYNC_FLUSH } as const;

/**
 * To compress a usual run takes a tenth of a millisecond. To have another thread do it costs the process twice as much
 * in addition. Data that can't be compressed takes 10 ms at this length.
 */
const mostBytesInLoop = 256 * 1024;

/** A run ends behind about one in this many objects, which their names decide. */
const meanObjects = 32;
const mostObjects = 128;
/** Stored characters after which a run ends in any case, unless it is a single long object. */
const mostCharacters = 192 * 1024;

/**
 * Cuts items into runs. Where a run ends depends on its objects, hardly on where the items begin: most runs of two
 * lists with the same objects in a row are the same, wherever the pages begin, and an object that was added or removed
 * changes one run.
 */
export function* runsOf(items: readonly StoredObject[]): Generator<Run> {
  let from = 0;
  let characters = 0;
  for (let i = 0; i < items.length; i++) {
    const { key, json } = items[i] as StoredObject;
    characters += json.length;
    const isFull = i - from + 1 >= mostObjects || characters >= mostCharacters;
    if (!isFull && endOfHash(key.name) % meanObjects !== 0) continue;
    yield items.slice(from, i + 1);
    from = i + 1;
    characters = 0;
  }
  if (from < items.length) yield items.slice(from);
}

/** A number that differs for names that end differently. */
function endOfHash(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = Math.max(0, name.length - 8); i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  }
  // The lowest bits of a product depend on the lowest bits of the characters alone.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Different runs that begin with the same object, as lists by label have them, mostly get different places. */
const placesOfObject = 8;
const forms = new WeakMap<ServedResource, Map<string, readonly object[]>>();

function placeOf(resource: ServedResource, form: string, run: Run): object {
  let known = forms.get(resource);
  if (known === undefined) {
    known = new Map();
    forms.set(resource, known);
  }
  let places = known.get(form);
  if (places === undefined) {
    places = Array.from({ length: placesOfObject }, () => ({}));
    known.set(form, places);
  }
  const last = run.at(-1) as StoredObject;
  return places[(endOfHash(last.key.name) + run.length) % placesOfObject] as object;
}

/** In front of the blocks: checksum, its shift, length, number of objects, validity, and the version of each object. */
const headBytes = 32;
const versionBytes = 8;

/**
 * The compressed items of a run, if they are kept. They are found by the states of all objects: the first one by its
 * identity, the others by their versions, each of which a resource has for one state of one object.
 *
 * @param form names the encoding of the items
 * @param now the time, in milliseconds of the epoch
 */
export function keptRun(
  resource: ServedResource,
  form: string,
  run: Run,
  kept: KeptForms | undefined,
  now: number,
): PackedBytes | undefined {
  const found = kept?.find(run[0] as StoredObject, placeOf(resource, form, run));
  return found !== undefined && shows(found, run, now) ? read(found) : undefined;
}

/** Compresses the items of a run, like {@link packBytes}, and keeps the result for {@link keptRun}. */
export async function packRun(
  resource: ServedResource,
  form: string,
  run: Run,
  kept: KeptForms | undefined,
  { plain, validity }: EncodedRun,
  areDense: boolean,
): Promise<PackedBytes> {
  const packed = await packBytes(plain, areDense);
  const { source: blocks } = packed.blocks;
  const start = headBytes + run.length * versionBytes;
  const bytes = Buffer.allocUnsafe(start + blocks.length);
  bytes.writeUInt32LE(packed.checksum, 0);
  bytes.writeUInt32LE(packed.shift, 4);
  bytes.writeUInt32LE(plain.length, 8);
  bytes.writeUInt32LE(run.length, 12);
  bytes.writeDoubleLE(validity?.from ?? Number.NEGATIVE_INFINITY, 16);
  bytes.writeDoubleLE(validity?.until ?? Number.POSITIVE_INFINITY, 24);
  for (let i = 0; i < run.length; i++) {
    bytes.writeBigUInt64LE((run[i] as StoredObject).resourceVersion, headBytes + i * versionBytes);
  }
  bytes.set(blocks, start);
  const range = kept?.keep(run[0] as StoredObject, placeOf(resource, form, run), bytes);
  return range === undefined ? packed : read(range);
}

/**
 * Compresses bytes, in the event loop if they are few and `areDense` is false.
 *
 * @param areDense whether they can probably not be compressed well, which takes a hundred times as long
 */
export async function packBytes(plain: Buffer, areDense: boolean): Promise<PackedBytes> {
  const isInLoop = !areDense && plain.length <= mostBytesInLoop;
  const source = isInLoop ? deflateRawSync(plain, blockOptions) : await deflate(plain, blockOptions);
  return {
    blocks: { source, start: 0, end: source.length },
    length: plain.length,
    checksum: crc32(plain),
    shift: checksumShift(plain.length),
  };
}

function shows({ source, start }: ByteRange, run: Run, now: number): boolean {
  if (source.readUInt32LE(start + 12) !== run.length) return false;
  if (!(now >= source.readDoubleLE(start + 16) && now < source.readDoubleLE(start + 24))) return false;
  for (let i = 0; i < run.length; i++) {
    const version = source.readBigUInt64LE(start + headBytes + i * versionBytes);
    if (version !== (run[i] as StoredObject).resourceVersion) return false;
  }
  return true;
}

function read({ source, start, end }: ByteRange): PackedBytes {
  const objects = source.readUInt32LE(start + 12);
  return {
    blocks: { source, start: start + headBytes + objects * versionBytes, end },
    checksum: source.readUInt32LE(start),
    shift: source.readUInt32LE(start + 4),
    length: source.readUInt32LE(start + 8),
  };
}

/** Whether the bytes were hardly compressed: the next ones of the same list are most likely like them. */
export function wasDense({ blocks: { start, end }, length }: PackedBytes): boolean {
  return (end - start) * 3 > length;
}
