import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import type { EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { Family } from './family.js';
import { clusterAddressesOf, type ServicePortView } from './service-view.js';

/** The properties of an endpoint that rules depend on. */
export interface EndpointView {
  readonly address: string;
  readonly node: string | undefined;
  /** Whether the endpoint accepts new connections. */
  readonly isReady: boolean;
  /** Whether the endpoint responds, although it may be about to end. */
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  /** The zones and nodes that the endpoint's hints name. */
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

/** The properties of an endpoint slice that rules depend on. */
export interface SliceView {
  readonly family: Family;
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
  readonly endpoints: readonly EndpointView[];
}

/** The address and the port of an endpoint. */
export interface Target extends EndpointView {
  readonly port: number;
}

/** The service that a slice belongs to. @param label the label with the name of the service */
export function serviceOfSlice(metadata: ObjectMeta, label: string): string | undefined {
  const name = metadata.labels?.[label];
  return name === undefined || name === '' ? undefined : `${metadata.namespace ?? ''}/${name}`;
}

/** Undefined for slices of host names, to which no packets go. */
export function sliceView({ addressType, ports, endpoints }: EndpointSlice): SliceView | undefined {
  if ((addressType as string) !== 'IPv4' && (addressType as string) !== 'IPv6') return undefined;
  const family = addressType as string as Family;
  return {
    family,
    ports: (ports ?? []).flatMap(({ name, protocol, port }) =>
      port ? [{ name: name ?? '', protocol: (protocol ?? 'TCP').toLowerCase(), port }] : [],
    ),
    endpoints: (endpoints ?? []).flatMap(({ addresses, nodeName, conditions, hints }) => {
      const [address] = clusterAddressesOf((addresses ?? []).slice(0, 1), family);
      if (address === undefined) return [];
      return [
        {
          address,
          node: nodeName ?? undefined,
          isReady: conditions?.ready !== false,
          isServing: conditions?.serving !== false,
          isTerminating: conditions?.terminating === true,
          zones: (hints?.forZones ?? []).map(({ name }) => name),
          nodes: (hints?.forNodes ?? []).map(({ name }) => name),
        },
      ];
    }),
  };
}

/**
 * The endpoints of a port of a service, sorted. The same address can be in two slices while it moves, or when a new pod
 * got it before the old one was gone: the endpoint that is not terminating counts.
 */
export function targetsOf(
  slices: Iterable<SliceView>,
  { name, protocol }: Pick<ServicePortView, 'name' | 'protocol'>,
): readonly Target[] {
  const found = new Map<string, Target>();
  for (const { ports, endpoints } of slices) {
    for (const port of ports) {
      if (port.name !== name || port.protocol !== protocol) continue;
      for (const endpoint of endpoints) {
        const key = `${endpoint.address} ${port.port}`;
        if (!found.has(key) || !endpoint.isTerminating) found.set(key, { ...endpoint, port: port.port });
      }
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target);
}
