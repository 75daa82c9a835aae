import type { Target } from './endpoint-view.js';
import type { ServicePortView } from './service-view.js';

/** The node whose rules are written. */
export interface OwnNode {
  readonly name: string;
  /** The node's zone; empty if it has none. */
  readonly zone: string;
}

export interface UsableTargets {
  /** Endpoints for packets that may go to any node; empty if there are no such packets. */
  readonly anywhere: readonly Target[];
  /** Endpoints for packets that must stay on this node; empty if there are no such packets. */
  readonly here: readonly Target[];
  /** Whether any node has an endpoint. If so, packets without an endpoint on this node are dropped, not rejected. */
  readonly exist: boolean;
}

/** Whether a port has frontends other than its cluster address. */
export function isExternal({ nodePort, externalIPs, loadBalancerIPs }: ServicePortView): boolean {
  return nodePort !== 0 || externalIPs.length > 0 || loadBalancerIPs.length > 0;
}

/**
 * The endpoints of a port for packets on this node: the ready ones, or if there are none, terminating ones that still
 * serve. Topology hints restrict packets that may go to any node to endpoints for this node, or else for its zone,
 * provided that all endpoints have hints.
 */
export function usableTargets(targets: readonly Target[], port: ServicePortView, node: OwnNode): UsableTargets {
  const ready = targets.filter(({ isReady }) => isReady);
  const ending = targets.filter((target) => !target.isReady && target.isServing && target.isTerminating);
  // Packets of the node itself and of its pods may go to any node, even to addresses whose other packets must stay.
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
