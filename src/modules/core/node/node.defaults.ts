import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';

/** Allocatable resources of a node default to its capacity. A single pod range is set in both fields. */
export function applyNodeDefaults(object: Node): void {
  const { spec, status } = object;
  roundResources(status.capacity);
  roundResources(status.allocatable);
  if (status.allocatable === undefined && status.capacity !== undefined) {
    status.allocatable = { ...status.capacity };
  }
  // Clients that know only `podCIDR` change only that field, so it takes precedence.
  if (spec.podCIDR) {
    if (spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  } else if (spec.podCIDRs?.[0] !== undefined) spec.podCIDR = spec.podCIDRs[0];
}
