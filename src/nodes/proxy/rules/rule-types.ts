import type { Family } from './family.js';
import type { ServicePortView } from './service-view.js';
import type { UsableTargets } from './usable-targets.js';

/** The sets and maps of the table that services have elements in. */
export type SetName =
  | 'cluster-ips'
  | 'hairpin-connections'
  | 'service-ips'
  | 'service-nodeports'
  | 'inside-ips'
  | 'inside-nodeports'
  | 'local-ips'
  | 'local-nodeports'
  | 'endpoints'
  | 'nodeport-endpoints'
  | 'no-endpoint-services'
  | 'no-endpoint-nodeports'
  | 'firewall-ips';

/** An element of a set or a map; `value` is empty in a set. */
export interface Element {
  readonly set: SetName;
  readonly key: string;
  readonly value: string;
}

/** What a service has in the table. */
export interface ServiceRules {
  readonly elements: readonly Element[];
  /** Chains of its own, by name, with their rules. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Sets that remember clients, by name, with the seconds that each is remembered. */
  readonly affinitySets: ReadonlyMap<string, number>;
  /** Ports whose packets are dropped here because they must stay on this node, by the policy that says so. */
  readonly withoutLocal: { readonly internal: number; readonly external: number };
}

/** What the rules depend on besides services and endpoints. */
export interface RuleSettings {
  readonly family: Family;
  readonly nodeName: string;
  /** The address of this node; undefined while none of the family is known. */
  readonly nodeIP: string | undefined;
  /** Number with the one bit set that marks packets whose sender becomes the node. */
  readonly masqueradeMark: number;
}

export interface PortToForward {
  /** Namespace and name of the service, with a slash between. */
  readonly service: string;
  readonly port: ServicePortView;
  readonly targets: UsableTargets;
}

/** The chains and sets of one service while they are written. */
export interface OwnChains {
  readonly chains: Map<string, readonly string[]>;
  readonly affinitySets: Map<string, number>;
}

/** The endpoints of packets that come from the node or its pods have numbers from here on. */
export const insideOffset = 65_536;
