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
  /** Equal for an endpoint that is in two slices. */
  readonly key: string;
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

/** The most characters of a name without the dot at its end. */
const mostName = 253;

/** The fields of a slice that names depend on. */
export type NamedSlice = Pick<EndpointSlice, 'endpoints' | 'ports'> & { readonly addressType?: unknown };

/**
 * What the names of a service lead to (DNS-based service discovery, version 1.1.0). Undefined for one without names: an external
 * service whose target is not a name.
 *
 * @param slices the endpoints of each slice
 */
export function serviceRecords(
  { spec }: Service,
  slices: Iterable<readonly EndpointRecord[]>,
): ServiceRecords | undefined {
  if (spec?.type === 'ExternalName') {
    const target = (spec.externalName ?? '').replace(/\.$/, '').toLowerCase();
    return isName(target) ? { kind: 'external', target } : undefined;
  }
  const addresses = recordAddressesOf(spec);
  const endpoints = mergedEndpoints(slices);
  if (addresses.length === 0) return { kind: 'headless', endpoints };
  return { kind: 'cluster', addresses, ports: (spec?.ports ?? []).map(portOf), endpoints };
}

/** Whether a message can carry a name: the API allows longer labels than DNS. */
function isName(text: string): boolean {
  return (
    isIP(text) === 0 && text.length <= mostName && text.split('.').every(({ length }) => length > 0 && length <= 63)
  );
}

/** The cluster addresses of a service; none for a headless one. */
export function recordAddressesOf(spec: Service['spec'] | undefined): readonly string[] {
  const all = spec?.clusterIPs?.length ? spec.clusterIPs : [spec?.clusterIP ?? ''];
  return all.filter((address) => isIP(address) !== 0).map(canonicalAddress);
}

/** The ready endpoints of one slice; each address once. They share the list of ports, which may have thousands. */
export function endpointsOf({ endpoints, ports, addressType }: NamedSlice): readonly EndpointRecord[] {
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const found = new Map<string, EndpointRecord>();
  const all = (ports ?? []).filter(({ port }) => port).map(portOf);
  for (const { addresses, conditions, hostname } of endpoints ?? []) {
    if (conditions?.ready === false) continue;
    for (const text of addresses ?? []) {
      if (isIP(text) === 0) continue;
      const address = canonicalAddress(text);
      const own = hostname?.toLowerCase() || undefined;
      const key = `${own ?? ''} ${address}`;
      const name = own ?? address.replace(/[.:]/g, '-');
      found.set(key, { key, hostname: name, isNamed: own !== undefined, address, ports: all });
    }
  }
  return [...found.values()];
}

/** The endpoints of all slices of a service. While an endpoint moves, it can be in two of them. */
function mergedEndpoints(slices: Iterable<readonly EndpointRecord[]>): readonly EndpointRecord[] {
  const found = new Map<string, EndpointRecord>();
  const joined = new PortLists();
  for (const endpoints of slices) {
    for (const endpoint of endpoints) {
      const before = found.get(endpoint.key);
      const merged = before === undefined ? endpoint : { ...before, ports: joined.join(before.ports, endpoint.ports) };
      found.set(endpoint.key, merged);
    }
  }
  return [...found.values()];
}

/** Joins lists of ports, each pair once: all endpoints of a slice have the same list. */
class PortLists {
  private readonly joined = new Map<readonly PortRecord[], Map<readonly PortRecord[], readonly PortRecord[]>>();

  join(before: readonly PortRecord[], more: readonly PortRecord[]): readonly PortRecord[] {
    const own = this.joined.get(before) ?? new Map<readonly PortRecord[], readonly PortRecord[]>();
    this.joined.set(before, own);
    const known = own.get(more) ?? joinPorts(before, more);
    own.set(more, known);
    return known;
  }
}

function joinPorts(before: readonly PortRecord[], more: readonly PortRecord[]): readonly PortRecord[] {
  const keyOf = ({ name, protocol, port }: PortRecord) => `${name} ${protocol} ${port}`;
  const known = new Set(before.map(keyOf));
  const added = more.filter((port) => !known.has(keyOf(port)));
  return added.length === 0 ? before : [...before, ...added];
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
