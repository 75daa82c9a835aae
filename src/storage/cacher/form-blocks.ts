import type { ByteRange, KeptForms, StoredObject } from '../storage.interface.js';

/**
 * Bytes are kept in blocks of this size, which are dropped as a whole. A slow reader keeps alive no more than the
 * blocks it reads.
 */
const BLOCK_BYTES = 256 * 1024;
/** Longer forms, in bytes, are not cached: making them again costs little compared with sending them. */
const LONGEST = 64 * 1024;
/** Memory of one form besides its bytes: its {@link Place}, and the reference from the object to it. */
const PLACE_BYTES = 120;
/** A block holds no more forms than this, however short they are. */
const MOST_FORMS = 2_000;
/**
 * When one part in this many of the allowed memory is used by places without bytes, everything is dropped to free them.
 */
const LOST_PART = 4;

interface Block {
  /** The bytes of the block; undefined once dropped. Written bytes never change, so readers may share them. */
  bytes: Buffer | undefined;
  used: number;
  forms: number;
}

/** Where the bytes of one form of an object are. */
class Place {
  constructor(
    readonly form: object,
    readonly block: Block,
    readonly start: number,
    readonly end: number,
    readonly next: Place | undefined,
  ) {}
}

/**
 * Caches forms in blocks. Forms made one after the other are adjacent, so a list that was served before consists of few
 * ranges of bytes. The oldest block is dropped first; every form can be made again.
 */
export class FormBlocks implements KeptForms {
  private places = new WeakMap<StoredObject, Place>();
  private readonly blocks: Block[] = [];
  private forms = 0;
  private lost = 0;

  /** @param limit how much memory may be used at the moment, in bytes */
  constructor(private readonly limit: () => number) {}

  /** Estimated memory in bytes. */
  get bytes(): number {
    return this.blocks.length * BLOCK_BYTES + (this.forms + this.lost) * PLACE_BYTES;
  }

  find(object: StoredObject, form: object): ByteRange | undefined {
    for (let place = this.places.get(object); place !== undefined; place = place.next) {
      if (place.form !== form) continue;
      const source = place.block.bytes;
      return source === undefined ? undefined : { source, start: place.start, end: place.end };
    }
    return undefined;
  }

  keep(object: StoredObject, form: object, bytes: Uint8Array): ByteRange | undefined {
    if (bytes.length > LONGEST) return undefined;
    const block = this.blockFor(bytes.length);
    if (block?.bytes === undefined) return undefined;
    const start = block.used;
    const end = start + bytes.length;
    block.bytes.set(bytes, start);
    block.used = end;
    block.forms += 1;
    this.forms += 1;
    this.places.set(object, new Place(form, block, start, end, this.others(object, form)));
    return { source: block.bytes, start, end };
  }

  /** Drops all forms. */
  drop(): void {
    for (const block of this.blocks) block.bytes = undefined;
    this.blocks.length = 0;
    this.places = new WeakMap();
    this.forms = 0;
    this.lost = 0;
  }

  /** The places of an object's other forms. */
  private others(object: StoredObject, form: object): Place | undefined {
    let others: Place | undefined;
    for (let place = this.places.get(object); place !== undefined; place = place.next) {
      if (place.form === form || place.block.bytes === undefined) continue;
      others = new Place(place.form, place.block, place.start, place.end, others);
    }
    return others;
  }

  private blockFor(length: number): Block | undefined {
    const last = this.blocks.at(-1);
    if (last !== undefined && last.used + length <= BLOCK_BYTES && last.forms < MOST_FORMS) return last;
    const limit = this.limit();
    if (this.lost * PLACE_BYTES * LOST_PART > limit) this.drop();
    const allowed = limit - BLOCK_BYTES - MOST_FORMS * PLACE_BYTES;
    while (this.blocks.length > 0 && this.bytes > allowed) this.dropOldest();
    if (this.bytes > allowed) return undefined;
    // The block is not allocated from the shared pool, which would keep other memory alive.
    const block: Block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0, forms: 0 };
    this.blocks.push(block);
    return block;
  }

  private dropOldest(): void {
    const block = this.blocks.shift() as Block;
    block.bytes = undefined;
    this.forms -= block.forms;
    this.lost += block.forms;
  }
}
