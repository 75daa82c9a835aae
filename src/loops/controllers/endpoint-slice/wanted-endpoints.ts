import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Endpoint, EndpointHints } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodReady } from '../frame/pod-state.js';
import type { PortGroup } from '../services/pack-slices.js';
import {
  type AddressFamily,
  hasPlace,
  hostnameUnder,
  isHeadless,
  podAddressesOf,
  portsAt,
  type StoredService,
  targetOf,
} from '../services/service-pods.js';

/** Finds a node by its name. */
export type NodeOf = (name: string) => Node | undefined;

/**
 * The endpoints of a service in one family, in groups that share their ports. Pods on nodes that do not exist are left
 * out, unless the service also shows pods that are not ready.
 */
export function wantedEndpoints(
  service: StoredService,
  pods: readonly StoredPod[],
  family: AddressFamily,
  nodeOf: NodeOf,
  zoneLabel: string,
): PortGroup[] {
  const groups = new Map<string, PortGroup & { readonly endpoints: Endpoint[] }>();
  for (const pod of pods) {
    if (!hasPlace(pod)) continue;
    const addresses = podAddressesOf(pod, family);
    if (addresses.length === 0) continue;
    const { nodeName } = pod.spec;
    const node = nodeName ? nodeOf(nodeName) : undefined;
    if (nodeName && node === undefined && service.spec.publishNotReadyAddresses !== true) continue;
    const ports = portsAt(pod, service);
    const needsNoPort = isHeadless(service) && (service.spec.ports ?? []).length === 0;
    if (ports.length === 0 && !needsNoPort) continue;
    const endpoint = endpointOf(service, pod, addresses, node?.metadata?.labels?.[zoneLabel]);
    const key = JSON.stringify(ports);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { family, ports, endpoints: [endpoint] });
    else group.endpoints.push(endpoint);
  }
  return [...groups.values()];
}

function endpointOf(service: StoredService, pod: StoredPod, addresses: string[], zone: string | undefined): Endpoint {
  const { publishNotReadyAddresses = false } = service.spec;
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = publishNotReadyAddresses || (serving && !terminating);
  const hostname = hostnameUnder(pod, service);
  const { nodeName } = pod.spec;
  const hints = ready ? hintsFor(service, nodeName, zone) : undefined;
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: targetOf(pod),
    ...(nodeName ? { nodeName } : {}),
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
  };
}

/** Which clients should use an endpoint, by the service's preference for nearby pods. */
function hintsFor(
  { spec }: StoredService,
  nodeName: string | undefined,
  zone: string | undefined,
): EndpointHints | undefined {
  const forZones = zone === undefined ? {} : { forZones: [{ name: zone }] };
  switch (spec.trafficDistribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return zone === undefined ? undefined : forZones;
    case 'PreferSameNode':
      return nodeName ? { ...forZones, forNodes: [{ name: nodeName }] } : undefined;
    default:
      return undefined;
  }
}
