import { type AddressRange, addressAt, parseCidr } from '../../../base/config/network.js';
import type { NodeRanges } from '../../../base/config/node-ipam.options.js';

/** The parts of a range that nodes get, by their number from 0, and the holders of each. */
export class RangePool {
  readonly size: number;
  private readonly bits: bigint;
  /** The holders of a part: usually one, but ranges that others assigned to nodes may overlap. */
  private readonly holders = new Map<number, Set<string>>();
  private next = 0;

  /** @param reserved ranges whose addresses no node may have */
  constructor(
    private readonly ranges: NodeRanges,
    reserved: readonly AddressRange[],
  ) {
    const { range, mask } = ranges;
    this.size = 2 ** (mask - range.prefix);
    this.bits = BigInt((range.family === 4 ? 32 : 128) - mask);
    for (const one of reserved) this.occupyRange(one, '');
  }

  /** The range of a part as text: `10.244.3.0/24`. */
  text(part: number): string {
    const { range, mask } = this.ranges;
    return `${addressAt(range, BigInt(part) << this.bits)}/${mask}`;
  }

  /**
   * Marks the parts that overlap a range such as `10.244.3.0/25`; a range outside, or an invalid one, marks nothing.
   */
  occupy(range: string, holder: string): void {
    const parsed = parseCidr(range);
    if (parsed !== undefined) this.occupyRange(parsed, holder);
  }

  /** Marks one part. */
  hold(part: number, holder: string): void {
    const holders = this.holders.get(part);
    if (holders === undefined) this.holders.set(part, new Set([holder]));
    else holders.add(holder);
  }

  /** Removes the marks that {@link occupy} made for the holder. */
  free(range: string, holder: string): void {
    const parsed = parseCidr(range);
    if (parsed === undefined) return;
    for (const part of this.partsOf(parsed)) this.release(part, holder);
  }

  /** Removes one mark. */
  release(part: number, holder: string): void {
    const holders = this.holders.get(part);
    if (holders?.delete(holder) === true && holders.size === 0) this.holders.delete(part);
  }

  /**
   * A free part, the next one after the last result; a part is returned again only after all others were. Undefined
   * when none is left. `except` are excluded parts.
   */
  find(except: ReadonlySet<number>): number | undefined {
    if (this.holders.size >= this.size) return undefined;
    for (let i = 0; i < this.size; i++) {
      const part = (this.next + i) % this.size;
      if (this.holders.has(part) || except.has(part)) continue;
      this.next = (part + 1) % this.size;
      return part;
    }
    return undefined;
  }

  private occupyRange(range: AddressRange, holder: string): void {
    for (const part of this.partsOf(range)) this.hold(part, holder);
  }

  /** The parts that a range overlaps, in order. */
  private *partsOf({ family, first, prefix }: AddressRange): Generator<number> {
    const { range } = this.ranges;
    if (family !== range.family) return;
    const total = 1n << BigInt((family === 4 ? 32 : 128) - prefix);
    const from = (first - range.first) >> this.bits;
    const to = (first + total - 1n - range.first) >> this.bits;
    const last = BigInt(this.size - 1);
    for (let part = from < 0n ? 0n : from; part <= (to > last ? last : to); part++) yield Number(part);
  }
}
