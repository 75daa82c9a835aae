import type { Target } from './endpoint-view.js';
import type { ServicePortView } from './service-view.js';

/** The node that the rules are for. */
export interface OwnNode {
  readonly name: string;
  /** Its zone; empty if it has none. */
  readonly zone: string;
}

export interface UsableTargets {
  /** For packets that may go anywhere; empty if there are no such packets. */
  readonly anywhere: readonly Target[];
  /** For packets that must stay on this node; empty if there are no such packets. */
  readonly here: readonly Target[];
  /** Whether there is any on whatever node. Packets that have none here are then dropped, not rejected. */
  readonly exist: boolean;
}

/** Whether a port is reached by anything but its cluster address. */
export function isExternal({ nodePort, externalIPs, loadBalancerIPs }: ServicePortView): boolean {
  return nodePort !== 0 || externalIPs.length > 0 || loadBalancerIPs.length > 0;
}

/**
 * Which endpoints packets of a port go to from this node: those that are ready, or if there are none, those that end and still
 * answer. Hints limit what may go anywhere to endpoints for this node, or else for its zone, as long as all have hints.
 */
export function usableTargets(targets: readonly Target[], port: ServicePortView, node: OwnNode): UsableTargets {
  const ready = targets.filter(({ isReady }) => isReady);
  const ending = targets.filter((target) => !target.isReady && target.isServing && target.isTerminating);
  // From the node itself and from its pods packets go anywhere, even to addresses whose other packets stay on their node.
  const goesAnywhere = !port.isInternalLocal || isExternal(port);
  const staysHere = port.isInternalLocal || (port.isExternalLocal && isExternal(port));
  const isHere = (target: Target) => target.node === node.name;
  const readyHere = ready.filter(isHere);
  return {
    anywhere: goesAnywhere ? (ready.length > 0 ? near(ready, node) : ending) : [],
    here: staysHere ? (readyHere.length > 0 ? readyHere : ending.filter(isHere)) : [],
    exist: ready.length > 0 || ending.length > 0,
  };
}

function near(ready: readonly Target[], node: OwnNode): readonly Target[] {
  if (ready.every(({ nodes }) => nodes.length > 0)) {
    const found = ready.filter(({ nodes }) => nodes.includes(node.name));
    if (found.length > 0) return found;
  }
  if (ready.every(({ zones }) => zones.length > 0)) {
    const found = ready.filter(({ zones }) => zones.includes(node.zone));
    if (found.length > 0) return found;
  }
  return ready;
}
