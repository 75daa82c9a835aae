import type { Family } from './family.js';
import type { PacketProtocol, ServicePortView } from './service-view.js';
import type { UsableTargets } from './usable-targets.js';

/** The sets and maps of the table that contain elements of services. */
export type SetName =
  | 'cluster-ips'
  | 'hairpin-connections'
  | 'service-ips'
  | 'service-nodeports'
  | 'inside-ips'
  | 'inside-nodeports'
  | 'local-ips'
  | 'local-nodeports'
  | `${'' | 'nodeport-'}endpoints-${PacketProtocol}`
  | 'no-endpoint-services'
  | 'no-endpoint-nodeports'
  | 'firewall-ips';

/** An element of a set or a map; `value` is empty in a set. */
export interface Element {
  readonly set: SetName;
  readonly key: string;
  readonly value: string;
}

/** The rules of a service. */
export interface ServiceRules {
  readonly elements: readonly Element[];
  /** The service's own chains, by name, with their rules. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Sets that remember clients, by name, with the time limit in seconds. */
  readonly affinitySets: ReadonlyMap<string, number>;
  /** Ports whose packets are dropped because they must stay on this node and it has no endpoint, by the policy. */
  readonly withoutLocal: { readonly internal: number; readonly external: number };
}

/** Inputs of the rules besides services and endpoints. */
export interface RuleSettings {
  readonly family: Family;
  readonly nodeName: string;
  /** The address of this node; undefined while none of the family is known. */
  readonly nodeIP: string | undefined;
  /** The one bit that marks packets for masquerading. */
  readonly masqueradeMark: number;
}

export interface PortToForward {
  /** Namespace and name of the service, separated by a slash. */
  readonly service: string;
  readonly port: ServicePortView;
  readonly targets: UsableTargets;
}

/** Collects the chains and sets of one service. */
export interface OwnChains {
  readonly chains: Map<string, readonly string[]>;
  readonly affinitySets: Map<string, number>;
}

/** Endpoints for packets from the node or its pods are numbered from here on. */
export const insideOffset = 65_536;
