import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pooledRandomBytes } from '../pooled-random-bytes.js';

/**
 * Places in the file start at multiples of this many bytes. Their sizes are this, twice this and so on: 4, 8, 16 KiB.
 */
const smallestPlace = 4096;
const algorithm = 'aes-256-gcm';
const nonceSize = 12;
const tagSize = 16;

/** The place of data in the file. */
export interface FilePlace {
  readonly offset: number;
  readonly size: number;
}

/**
 * A file for data that does not fit into memory. No other process can read it: it has no name once it is open, it
 * disappears with the process, and its content is encrypted with a key that only the process has.
 */
export class OverflowFile {
  private readonly file: number;
  private readonly key = randomBytes(32);
  private end = 0;
  /** Offsets of released places, by their size. */
  private readonly free = new Map<number, number[]>();

  /** @throws Error when no file can be made in the folder */
  constructor(folder = tmpdir()) {
    const name = join(folder, `.plinth-${randomBytes(16).toString('hex')}`);
    this.file = openSync(name, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    unlinkSync(name);
  }

  /** The approximate size of the file in bytes. */
  get size(): number {
    return this.end;
  }

  /** @throws Error when the disk is full */
  write(bytes: Uint8Array): FilePlace {
    const nonce = pooledRandomBytes(nonceSize);
    const cipher = createCipheriv(algorithm, this.key, nonce);
    const content = Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    const place = placeOf(content.length);
    const given = this.free.get(place)?.pop();
    const offset = given ?? this.end;
    try {
      for (let done = 0; done < content.length; ) {
        done += writeSync(this.file, content, done, content.length - done, offset + done);
      }
    } catch (error) {
      if (given !== undefined) this.release({ offset, size: content.length });
      throw error;
    }
    if (given === undefined) this.end += place;
    return { offset, size: content.length };
  }

  read({ offset, size }: FilePlace): Buffer {
    const content = Buffer.allocUnsafe(size);
    for (let done = 0; done < size; ) {
      const read = readSync(this.file, content, done, size - done, offset + done);
      if (read === 0) throw new Error('the file for what has no room in memory is shorter than it was');
      done += read;
    }
    const decipher = createDecipheriv(algorithm, this.key, content.subarray(0, nonceSize));
    decipher.setAuthTag(content.subarray(size - tagSize));
    return Buffer.concat([decipher.update(content.subarray(nonceSize, size - tagSize)), decipher.final()]);
  }

  /** Releases a place; its content may be overwritten. */
  release({ offset, size }: FilePlace): void {
    const place = placeOf(size);
    const places = this.free.get(place);
    if (places === undefined) this.free.set(place, [offset]);
    else places.push(offset);
  }

  close(): void {
    closeSync(this.file);
  }
}

function placeOf(size: number): number {
  let place = smallestPlace;
  while (place < size) place *= 2;
  return place;
}
