import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { OwnerReference } from '../../../base/machinery/api-object.js';
import { ownBytes } from '../../../base/machinery/packed/packed-parts.js';

/** An object with more owners than this is crowded: its owners are kept as {@link ManyOwners}. */
export const fewOwners = 32;
/** Bits of the filter for each owner, and how many of them are set: about one lookup in several hundred is wrong. */
const bitsOfOwner = 12;
const bitsSet = 4;

/**
 * The owners of an object that has very many: their compressed JSON, and a filter that decides which uids may be among
 * them. Takes a small part of the memory that the single references and an index of them would.
 */
export class ManyOwners {
  private readonly text: Buffer;
  private readonly filter: Uint8Array;

  constructor(owners: readonly OwnerReference[]) {
    this.text = ownBytes(deflateRawSync(JSON.stringify(owners), { level: 1 }));
    this.filter = new Uint8Array(Math.ceil((owners.length * bitsOfOwner) / 8));
    for (const { uid } of owners) {
      const { first, step } = hashesOf(uid);
      for (let i = 0; i < bitsSet; i++) this.set(this.byteAt(first, step, i), this.maskAt(first, step, i));
    }
  }

  /** The references in their original form. */
  get list(): readonly OwnerReference[] {
    return JSON.parse(inflateRawSync(this.text).toString('utf8')) as OwnerReference[];
  }

  /** False: no reference has this uid. True: most likely one has. */
  mayHave(uid: string): boolean {
    const { first, step } = hashesOf(uid);
    for (let i = 0; i < bitsSet; i++) {
      if (((this.filter[this.byteAt(first, step, i)] ?? 0) & this.maskAt(first, step, i)) === 0) return false;
    }
    return true;
  }

  private set(at: number, mask: number): void {
    this.filter[at] = (this.filter[at] ?? 0) | mask;
  }

  private byteAt(first: number, step: number, i: number): number {
    return ((first + Math.imul(step, i)) >>> 3) % this.filter.length;
  }

  private maskAt(first: number, step: number, i: number): number {
    return 1 << ((first + Math.imul(step, i)) & 7);
  }
}

function hashesOf(uid: string): { readonly first: number; readonly step: number } {
  let first = 2_166_136_261;
  let step = 5_381;
  for (let i = 0; i < uid.length; i++) {
    const code = uid.charCodeAt(i);
    first = Math.imul(first ^ code, 16_777_619);
    step = (Math.imul(step, 33) + code) | 0;
  }
  return { first, step: step | 1 };
}
