import type { Node } from '../../../apis/core/v1/node.types.js';

/** What a node has to give to pods is its capacity unless it says otherwise; one pod range stands in both fields. */
export function applyNodeDefaults(object: Node): void {
  const { spec, status } = object;
  if (status.allocatable === undefined && status.capacity !== undefined) {
    status.allocatable = { ...status.capacity };
  }
  if (spec.podCIDRs === undefined && spec.podCIDR !== undefined) spec.podCIDRs = [spec.podCIDR];
  else if (spec.podCIDR === undefined && spec.podCIDRs?.[0] !== undefined) spec.podCIDR = spec.podCIDRs[0];
}
