import type { ApiObject } from '../../../base/machinery/api-object.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';

/** The addresses of the cluster's nodes: what runs there with the network of its machine asks from one of them. */
export class NodeAddresses {
  private readonly byUid = new Map<string, readonly string[]>();
  private known: ReadonlySet<string> = new Set();

  /** The uids of the nodes. */
  uids(): Iterable<string> {
    return this.byUid.keys();
  }

  put({ metadata, status }: Node & ApiObject): void {
    const uid = metadata.uid ?? '';
    const addresses = (status?.addresses ?? []).map(({ address }) => address);
    // Nodes report their status all the time, and hardly ever other addresses.
    if (deepEqual(this.byUid.get(uid), addresses)) return;
    this.byUid.set(uid, addresses);
    this.collect();
  }

  remove(uid: string): void {
    if (this.byUid.delete(uid)) this.collect();
  }

  has(address: string): boolean {
    return this.known.has(address);
  }

  private collect(): void {
    this.known = new Set([...this.byUid.values()].flat());
  }
}
