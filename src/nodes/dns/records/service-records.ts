import { isIP } from 'node:net';
import { canonicalAddress } from '../../../base/config/network.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';

export interface PortRecord {
  readonly name: string;
  /** In small letters: `tcp`. */
  readonly protocol: string;
  readonly port: number;
}

/** A ready endpoint. */
export interface EndpointRecord {
  /** The name below the service's name: the endpoint's own host name, or one made from its address. */
  readonly hostname: string;
  /** Whether the host name is the endpoint's own. */
  readonly isNamed: boolean;
  readonly address: string;
  readonly ports: readonly PortRecord[];
}

/** The records of a service. */
export type ServiceRecords =
  | { readonly kind: 'external'; readonly target: string }
  | {
      readonly kind: 'cluster';
      readonly addresses: readonly string[];
      readonly ports: readonly PortRecord[];
      readonly endpoints: readonly EndpointRecord[];
    }
  | { readonly kind: 'headless'; readonly endpoints: readonly EndpointRecord[] };

/** The fields of a slice that names depend on. */
export type NamedSlice = Pick<EndpointSlice, 'endpoints' | 'ports'> & { readonly addressType?: unknown };

/**
 * What the names of a service lead to (DNS-based service discovery, version 1.1.0). Undefined for one without names: an external
 * service whose target is not a name.
 */
export function serviceRecords({ spec }: Service, slices: Iterable<NamedSlice>): ServiceRecords | undefined {
  if (spec?.type === 'ExternalName') {
    const target = (spec.externalName ?? '').replace(/\.$/, '').toLowerCase();
    return target === '' || isIP(target) !== 0 ? undefined : { kind: 'external', target };
  }
  const addresses = recordAddressesOf(spec);
  const endpoints = endpointsOf(slices);
  if (addresses.length === 0) return { kind: 'headless', endpoints };
  return { kind: 'cluster', addresses, ports: (spec?.ports ?? []).map(portOf), endpoints };
}

/** The cluster addresses of a service; none for a headless one. */
export function recordAddressesOf(spec: Service['spec'] | undefined): readonly string[] {
  const all = spec?.clusterIPs?.length ? spec.clusterIPs : [spec?.clusterIP ?? ''];
  return all.filter((address) => isIP(address) !== 0).map(canonicalAddress);
}

/** The ready endpoints, in the order of their slices; each address once. */
export function endpointsOf(slices: Iterable<NamedSlice>): readonly EndpointRecord[] {
  const found = new Map<string, EndpointRecord>();
  for (const { endpoints, ports, addressType } of slices) {
    if (addressType !== 'IPv4' && addressType !== 'IPv6') continue;
    const all = (ports ?? []).filter(({ port }) => port).map(portOf);
    for (const { addresses, conditions, hostname } of endpoints ?? []) {
      if (conditions?.ready === false) continue;
      for (const text of addresses ?? []) {
        if (isIP(text) === 0) continue;
        const address = canonicalAddress(text);
        const own = hostname?.toLowerCase() || undefined;
        const key = `${own ?? ''} ${address}`;
        // While an endpoint moves, it can be in two slices.
        const before = found.get(key)?.ports ?? [];
        const added = all.filter((port) => !before.some((each) => isSamePort(each, port)));
        const name = own ?? address.replace(/[.:]/g, '-');
        found.set(key, { hostname: name, isNamed: own !== undefined, address, ports: [...before, ...added] });
      }
    }
  }
  return [...found.values()];
}

function portOf({
  name,
  protocol,
  port,
}: {
  name?: string | null;
  protocol?: string | null;
  port?: unknown;
}): PortRecord {
  return { name: (name ?? '').toLowerCase(), protocol: (protocol ?? 'TCP').toLowerCase(), port: Number(port) };
}

function isSamePort(one: PortRecord, other: PortRecord): boolean {
  return one.name === other.name && one.protocol === other.protocol && one.port === other.port;
}
