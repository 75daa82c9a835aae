import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Allocation } from '../../../objects/registry/allocation/allocation.js';
import { type AllocationKind, Allocations } from '../../../objects/registry/allocation/allocations.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';

/** Storage resource of the ranges assigned to nodes; no API shows it. */
const nodeRangeResource = 'noderanges.internal';
const annotation = 'internal/claim';

const nodeRangeKind: AllocationKind = {
  resource: nodeRangeResource,
  describe: (metadata, owner) => ({
    kind: 'NodeRangeClaim',
    apiVersion: 'internal/v1',
    metadata,
    node: { name: owner.name },
  }),
  ownerOf: (allocation) => {
    const { name } = allocation.node as { name: string };
    return { resource: 'nodes', namespace: '', name };
  },
  holds: (node, name) => podRangesOf(node as ApiObject & Node).some((range) => claimName(range) === name),
};

/** The ranges of a node. */
export function podRangesOf({ spec }: Readonly<Node>): readonly string[] {
  return spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
}

/** Names of claims become parts of paths, so they must not contain a slash. */
function claimName(range: string): string {
  return range.replace('/', '-');
}

/**
 * The node of each range: two processes never assign one range to two nodes, even while both believe that they lead.
 */
export class NodeRangeClaims {
  private readonly allocations: Allocations;

  constructor(storage: Storage, registry: StoredResources, clock: Clock) {
    this.allocations = new Allocations(storage, registry, clock, nodeRangeKind, annotation);
  }

  /** Claims a range for a node; undefined when it is claimed for another one. */
  take(range: string, { metadata }: Readonly<ApiObject>): Promise<Allocation | undefined> {
    const { name = '', uid = '' } = metadata;
    return this.allocations.take(claimName(range), { namespace: '', name, uid });
  }

  /** Gives up a claim for a node that did not get the range. */
  undo(allocation: Allocation): Promise<void> {
    return this.allocations.undo(allocation);
  }

  /** Gives up the claim of a node that is gone. */
  release(range: string, uid: string): Promise<void> {
    return this.allocations.releaseAll(claimName(range), uid);
  }
}
