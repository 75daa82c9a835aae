import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import type { LabelSelectorObject } from '../../../base/machinery/label-selector.js';
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../../objects/apis/networking/v1/network-policy.types.js';
import type { PacketProtocol } from '../rules/service-view.js';
import { PodChoice } from './pod-choice.js';

/** The other side of a connection. */
export type PeerView =
  | { readonly kind: 'pods'; readonly choice: PodChoice }
  | { readonly kind: 'block'; readonly cidr: string; readonly except: readonly string[] };

/** Ports from one to another, both included, or all ports of a name. */
export type PolicyPort =
  | { readonly kind: 'range'; readonly protocol: PacketProtocol; readonly first: number; readonly last: number }
  | { readonly kind: 'named'; readonly protocol: PacketProtocol; readonly name: string };

/** Connections that a policy allows. */
export interface NetworkPolicyRule {
  /** Undefined: any peer. */
  readonly peers: readonly PeerView[] | undefined;
  /** Undefined: whatever they carry, protocols without ports too. */
  readonly ports: readonly PolicyPort[] | undefined;
}

/** A policy as rules are made of it. */
export interface PolicyView {
  /** Namespace and name, with a slash between. */
  readonly name: string;
  readonly subjects: PodChoice;
  /** Undefined: the policy has no rules for connections in that direction. */
  readonly ingress: readonly NetworkPolicyRule[] | undefined;
  readonly egress: readonly NetworkPolicyRule[] | undefined;
}

const protocols: Readonly<Record<string, PacketProtocol>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

/** @throws SelectorError for a selector that is not valid */
export function policyView({ metadata, spec }: NetworkPolicy & { metadata: ObjectMeta }): PolicyView {
  const { namespace = '', name = '' } = metadata;
  const { podSelector, ingress, egress, policyTypes } = spec;
  const types = policyTypes?.length ? policyTypes : ['Ingress', ...(egress?.length ? ['Egress'] : [])];
  const ruleOf = (
    peers: readonly NetworkPolicyPeer[] = [],
    ports: readonly NetworkPolicyPort[] = [],
  ): NetworkPolicyRule => ({
    peers: peers.length === 0 ? undefined : peers.map((peer) => peerView(peer, namespace)),
    ports: ports.length === 0 ? undefined : ports.flatMap(portView),
  });
  return {
    name: `${namespace}/${name}`,
    subjects: new PodChoice(namespace, podSelector as LabelSelectorObject),
    ingress: types.includes('Ingress') ? (ingress ?? []).map(({ from, ports }) => ruleOf(from, ports)) : undefined,
    egress: types.includes('Egress') ? (egress ?? []).map(({ to, ports }) => ruleOf(to, ports)) : undefined,
  };
}

function peerView({ ipBlock, podSelector, namespaceSelector }: NetworkPolicyPeer, namespace: string): PeerView {
  if (ipBlock) return { kind: 'block', cidr: ipBlock.cidr, except: ipBlock.except ?? [] };
  const selectors = [podSelector, namespaceSelector] as readonly (LabelSelectorObject | undefined)[];
  return { kind: 'pods', choice: new PodChoice(namespace, ...(selectors as [LabelSelectorObject | undefined])) };
}

function portView({ protocol, port, endPort }: NetworkPolicyPort): PolicyPort[] {
  const known = protocols[protocol ?? 'TCP'];
  if (known === undefined) return [];
  if (port === undefined || port === null) return [{ kind: 'range', protocol: known, first: 0, last: 65_535 }];
  if (typeof port === 'string') return [{ kind: 'named', protocol: known, name: port }];
  return [{ kind: 'range', protocol: known, first: port, last: endPort ?? port }];
}
