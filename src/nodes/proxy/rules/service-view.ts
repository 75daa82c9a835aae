import { isIP } from 'node:net';
import { canonicalAddress, parseCidr } from '../../../base/config/network.js';
import type { Service, ServicePort } from '../../../objects/apis/core/v1/service.types.js';
import type { Family } from './family.js';

export type PacketProtocol = 'tcp' | 'udp' | 'sctp';

/** A port of a service in one family, with its frontends and policies. */
export interface ServicePortView {
  readonly name: string;
  readonly protocol: PacketProtocol;
  readonly clusterIP: string;
  readonly port: number;
  /** 0: none. */
  readonly nodePort: number;
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  /** Source ranges of the load balancer's clients; empty: everybody. */
  readonly sourceRanges: readonly string[];
  /** How long a client keeps its endpoint; 0: each connection gets another one. */
  readonly affinitySeconds: number;
  /** Whether packets from outside must stay on this node. */
  readonly isExternalLocal: boolean;
  /** Whether packets to the cluster address must stay on this node. */
  readonly isInternalLocal: boolean;
}

const protocols: Readonly<Record<string, PacketProtocol>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

/** The health check port of a service whose packets stay on their node; 0 for other services. */
export function healthCheckPortOf({ spec }: Service): number {
  return isProxied(spec) && spec.type === 'LoadBalancer' && staysLocal(spec) ? (spec.healthCheckNodePort ?? 0) : 0;
}

/**
 * The ports of a service in one family. A headless or external-name service has none, nor has one without an address of
 * the family.
 */
export function servicePortsOf({ spec, status }: Service, family: Family): readonly ServicePortView[] {
  if (!isProxied(spec)) return [];
  const [clusterIP] = clusterAddressesOf(spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP ?? ''], family);
  if (clusterIP === undefined) return [];
  const balancers = (status?.loadBalancer?.ingress ?? []).filter(({ ipMode }) => ipMode !== 'Proxy');
  const shared = {
    clusterIP,
    externalIPs: clusterAddressesOf(spec.externalIPs ?? [], family),
    loadBalancerIPs: clusterAddressesOf(
      balancers.map(({ ip }) => ip ?? ''),
      family,
    ),
    sourceRanges: rangesOf(spec.loadBalancerSourceRanges ?? [], family),
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP' ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800) : 0,
    isExternalLocal: staysLocal(spec),
    isInternalLocal: spec.internalTrafficPolicy === 'Local',
  };
  return (spec.ports ?? []).flatMap((port) => portView(port, shared));
}

function portView(
  { name = '', protocol = 'TCP', port, nodePort = 0 }: ServicePort,
  shared: Omit<ServicePortView, 'name' | 'protocol' | 'port' | 'nodePort'>,
): ServicePortView[] {
  const known = protocols[protocol];
  return known === undefined ? [] : [{ ...shared, name, protocol: known, port, nodePort }];
}

function isProxied({ clusterIP, type }: Service['spec']): boolean {
  return clusterIP !== undefined && clusterIP !== '' && clusterIP !== 'None' && type !== 'ExternalName';
}

/** Whether the policy for packets from outside applies: only to services that can be reached from there. */
function staysLocal({ type, externalIPs = [], externalTrafficPolicy }: Service['spec']): boolean {
  const isReachable = type === 'LoadBalancer' || type === 'NodePort' || externalIPs.length > 0;
  return isReachable && externalTrafficPolicy === 'Local';
}

/** The addresses of the family in their short form. */
export function clusterAddressesOf(texts: readonly string[], family: Family): string[] {
  const digit = family === 'IPv4' ? 4 : 6;
  const own = texts.filter((text) => isIP(text) === digit);
  return family === 'IPv4' ? own : own.map(canonicalAddress);
}

/** The source ranges of the family. A range of all addresses is the same as none. Spaces around ranges are allowed. */
function rangesOf(texts: readonly string[], family: Family): string[] {
  const digit = family === 'IPv4' ? 4 : 6;
  const own = texts.map((text) => text.trim()).filter((text) => parseCidr(text)?.family === digit);
  return own.some((text) => parseCidr(text)?.prefix === 0) ? [] : own;
}
