import type { Node } from '../../../apis/core/v1/node.types.js';

/** What a node has to give to pods is its capacity unless it says otherwise; one pod range stands in both fields. */
export function applyNodeDefaults(object: Node): void {
  const { spec, status } = object;
  if (status.allocatable === undefined && status.capacity !== undefined) {
    status.allocatable = { ...status.capacity };
  }
  // Clients that know only `podCIDR` change that alone: it wins.
  if (spec.podCIDR) {
    if (spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  } else if (spec.podCIDRs?.[0] !== undefined) spec.podCIDR = spec.podCIDRs[0];
}
