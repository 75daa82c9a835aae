import { type AddressRange, addressAt } from '../../base/config/network.js';

/** The addresses of one node's pods: a part of a range, whose first address is that of the node in their network. */
export class PodAddresses {
  private readonly taken = new Set<string>();
  private next = 1n;

  /**
   * @param offset where the part begins in the range
   * @param size how many addresses the part has
   */
  constructor(
    private readonly range: AddressRange,
    private readonly offset: bigint,
    private readonly size: bigint,
  ) {}

  /** The address of the node among its pods. */
  get ofNode(): string {
    return addressAt(this.range, this.offset);
  }

  /**
   * An address that no other pod of the node has; a freed one is used again as late as possible. When all are taken, the
   * pods share.
   *
   * @param known an address that the pod has already
   */
  take(known?: string): string {
    if (known !== undefined && known !== '') {
      this.taken.add(known);
      return known;
    }
    let address = '';
    for (let tries = 1n; tries < this.size; tries++) {
      address = addressAt(this.range, this.offset + this.next);
      this.next = this.next + 1n >= this.size ? 1n : this.next + 1n;
      if (!this.taken.has(address)) break;
    }
    this.taken.add(address);
    return address;
  }

  give(address: string): void {
    this.taken.delete(address);
  }
}
