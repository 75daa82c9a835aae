import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodReady } from '../frame/pod-state.js';
import {
  familiesOf,
  hasPlace,
  hostnameUnder,
  isHeadless,
  podAddressesOf,
  portsAt,
  type StoredService,
  targetOf,
} from '../services/service-pods.js';

/** One address at some ports. */
interface Place {
  readonly address: EndpointAddress;
  readonly isReady: boolean;
  readonly ports: readonly EndpointPort[];
}

/**
 * The subsets of a service's Endpoints, in a fixed order: addresses that share all their ports, in the service's main
 * family. Pods that are being deleted are left out, unless the service also shows pods that are not ready.
 */
export function wantedSubsets(service: StoredService, pods: readonly StoredPod[]): EndpointSubset[] {
  const places = pods.flatMap((pod) => placeOf(service, pod) ?? []);
  const groups = new Map<string, Place[]>();
  for (const place of places) {
    const key = JSON.stringify(place.ports);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [place]);
    else group.push(place);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => subsetOf(group));
}

function placeOf(service: StoredService, pod: StoredPod): Place | undefined {
  const { publishNotReadyAddresses = false } = service.spec;
  const isLeaving = pod.metadata.deletionTimestamp !== undefined && !publishNotReadyAddresses;
  if (!hasPlace(pod) || isLeaving) return undefined;
  const ip = mainAddress(service, pod);
  if (ip === undefined) return undefined;
  const ports = portsAt(pod, service);
  const needsNoPort = isHeadless(service) && (service.spec.ports ?? []).length === 0;
  if (ports.length === 0 && !needsNoPort) return undefined;
  const hostname = hostnameUnder(pod, service);
  const { nodeName } = pod.spec;
  const address: EndpointAddress = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName ? { nodeName } : {}),
    targetRef: targetOf(pod),
  };
  return { address, isReady: publishNotReadyAddresses || isPodReady(pod), ports };
}

function mainAddress(service: StoredService, pod: StoredPod): string | undefined {
  const { ipFamilies = [], clusterIP = '' } = service.spec;
  const isOpen = ipFamilies.length === 0 && (clusterIP === '' || clusterIP === 'None');
  for (const family of familiesOf(service)) {
    const [ip] = podAddressesOf(pod, family);
    // A service that names no family uses those of its pods.
    if (ip !== undefined || !isOpen) return ip;
  }
  return undefined;
}

function subsetOf(places: readonly Place[]): EndpointSubset {
  const inOrder = [...places].sort((a, b) => (orderOf(a.address) < orderOf(b.address) ? -1 : 1));
  const addresses = inOrder.filter((place) => place.isReady).map(({ address }) => address);
  const notReady = inOrder.filter((place) => !place.isReady).map(({ address }) => address);
  const ports = places[0]?.ports ?? [];
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports: [...ports] }),
  };
}

function orderOf({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ''}`;
}

/**
 * Subsets with at most `most` addresses: ready ones come first, and each subset keeps its share. Undefined when there are
 * no more than that.
 */
export function truncated(subsets: readonly EndpointSubset[], most: number): EndpointSubset[] | undefined {
  const ready = count(subsets.map(({ addresses }) => addresses));
  const notReady = count(subsets.map(({ notReadyAddresses }) => notReadyAddresses));
  if (ready + notReady <= most) return undefined;
  const readyShares = shares(
    subsets.map(({ addresses = [] }) => addresses.length),
    Math.min(most, ready),
  );
  const others = shares(
    subsets.map(({ notReadyAddresses = [] }) => notReadyAddresses.length),
    Math.max(0, most - ready),
  );
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports }, i) => {
    const kept = addresses.slice(0, readyShares[i]);
    const keptOthers = notReadyAddresses.slice(0, others[i]);
    if (kept.length + keptOthers.length === 0) return [];
    return [
      {
        ...(kept.length === 0 ? {} : { addresses: kept }),
        ...(keptOthers.length === 0 ? {} : { notReadyAddresses: keptOthers }),
        ...(ports === undefined ? {} : { ports }),
      },
    ];
  });
}

function count(lists: readonly (readonly unknown[] | undefined)[]): number {
  return lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
}

/**
 * Splits `total` in proportion to `sizes`, none above its size; the remainder from rounding goes to the first ones
 * below their size.
 */
function shares(sizes: readonly number[], total: number): number[] {
  const sum = sizes.reduce((a, b) => a + b, 0);
  if (sum <= total) return [...sizes];
  const parts = sizes.map((size) => Math.floor((size * total) / sum));
  let left = total - parts.reduce((a, b) => a + b, 0);
  return parts.map((part, i) => {
    const more = Math.min(left, (sizes[i] ?? 0) - part);
    left -= more;
    return part + more;
  });
}
