import { isIPv6 } from 'node:net';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { Protocol } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Service, ServicePort } from '../../../objects/apis/core/v1/service.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodFinished, isPodReady } from '../frame/pod-state.js';
import type { Labels } from '../frame/wide-changes.js';

export type StoredService = Service & ApiObject;

/** Kinds of addresses that a service's pods have. */
export type AddressFamily = 'IPv4' | 'IPv6';

function pairKey(namespace: string | undefined, [key, value]: readonly [string, string]): string {
  return `${namespace ?? ''}/${key}=${value}`;
}

function firstPair({ spec }: Service): [string, string] | undefined {
  const [first] = Object.entries(spec.selector ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return first;
}

/** Finds services by the labels of pods and pods by the selector of a service, without looking at all of them. */
export class ServicePods {
  private readonly byPair;
  private readonly byLabel;

  constructor(
    private readonly services: Informer<StoredService>,
    pods: Informer<StoredPod>,
  ) {
    this.byPair = services.index('first-selector-pair', (service) => {
      const pair = firstPair(service);
      return pair === undefined ? [] : [pairKey(service.metadata.namespace, pair)];
    });
    this.byLabel = pods.index('label', ({ metadata }) =>
      Object.entries(metadata.labels ?? {}).map((label) => pairKey(metadata.namespace, label)),
    );
  }

  /** The services whose selector matches the labels of a pod. */
  *servicesOf(namespace: string, labels: Labels = {}): Iterable<StoredService> {
    for (const label of Object.entries(labels)) {
      for (const service of this.byPair.get(pairKey(namespace, label))) {
        if (selects(service, labels)) yield service;
      }
    }
  }

  /** An upper bound of how many services these are, found without looking at any of them. */
  mostServicesOf(namespace: string, labels: Labels = {}): number {
    let count = 0;
    for (const label of Object.entries(labels)) count += this.byPair.get(pairKey(namespace, label)).size;
    return count;
  }

  /** The pods that the selector of a service matches, by name. */
  podsOf(service: StoredService): StoredPod[] {
    return [...this.candidates(service)]
      .filter(({ metadata }) => selects(service, metadata.labels))
      .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  }

  /** An upper bound of how many pods these are, found without looking at any of them. */
  mostPodsOf(service: StoredService): number {
    return this.candidates(service).size;
  }

  /** The pods with the rarest label of the selector of a service. */
  private candidates({ metadata, spec }: StoredService): ReadonlySet<StoredPod> {
    let fewest: ReadonlySet<StoredPod> | undefined;
    for (const pair of Object.entries(spec.selector ?? {})) {
      const pods = this.byLabel.get(pairKey(metadata.namespace, pair));
      if (fewest === undefined || pods.size < fewest.size) fewest = pods;
    }
    return fewest ?? new Set();
  }

  get(namespace: string, name: string): StoredService | undefined {
    return this.services.get(namespace, name);
  }
}

function selects({ spec }: Service, labels: Labels = {}): boolean {
  return Object.entries(spec.selector ?? {}).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
}

/** Whether the addresses of a service come from the pods that it selects. */
export function selectsPods({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && Object.keys(spec.selector ?? {}).length > 0;
}

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/** The address families of a service; the first one is the main one. */
export function familiesOf({ spec }: Service): readonly AddressFamily[] {
  const families = (spec.ipFamilies ?? []).filter((family): family is AddressFamily => family !== '');
  if (families.length > 0) return families;
  const { clusterIP = '' } = spec;
  if (clusterIP !== '' && clusterIP !== 'None') return [familyOf(clusterIP)];
  return ['IPv4', 'IPv6'];
}

export function familyOf(ip: string): AddressFamily {
  return isIPv6(ip) ? 'IPv6' : 'IPv4';
}

/** The addresses of a pod in a family; there is at most one in practice. */
export function podAddressesOf({ status }: Pod, family: AddressFamily): string[] {
  const ips = (status?.podIPs ?? []).map(({ ip }) => ip);
  if (ips.length === 0 && status?.podIP) ips.push(status.podIP);
  return ips.filter((ip) => ip !== '' && familyOf(ip) === family);
}

/** Whether a pod can be an endpoint: it has an address and has not finished. */
export function hasPlace(pod: StoredPod): boolean {
  return !isPodFinished(pod) && ((pod.status.podIPs ?? []).length > 0 || Boolean(pod.status.podIP));
}

/** The name of a pod under the service, when the pod asks for one there. */
export function hostnameUnder({ spec, metadata }: Pod, service: Service): string | undefined {
  const { hostname, subdomain } = spec;
  const isHere = subdomain === service.metadata.name && metadata?.namespace === service.metadata.namespace;
  return hostname && isHere ? hostname : undefined;
}

/** The fields of an endpoint about the pod behind an address. */
export function targetOf({ metadata }: StoredPod) {
  const { namespace, name, uid } = metadata;
  return { kind: 'Pod', namespace, name, uid };
}

/**
 * The number of a service's port at a pod: its containers may map the name to another number. Undefined: the pod has no
 * such port.
 */
export function portAt({ spec }: Pod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return Number(targetPort) || port;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports } of [...(spec.containers ?? []), ...sidecars]) {
    for (const found of ports ?? []) {
      if (found.name === targetPort && (found.protocol ?? 'TCP') === protocol) return found.containerPort;
    }
  }
  return undefined;
}

/** One port in the form of endpoints and slices. */
export interface PortAtPods {
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
  readonly appProtocol?: string;
}

/** The ports of a service at a pod, by name; without those that the pod lacks. */
export function portsAt(pod: Pod, service: Service): PortAtPods[] {
  return (service.spec.ports ?? [])
    .flatMap((servicePort) => {
      const port = portAt(pod, servicePort);
      const { name = '', protocol = 'TCP', appProtocol } = servicePort;
      return port === undefined
        ? []
        : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Whether a change of a pod may change what a service shows about it. */
export function mattersToServices(pod: StoredPod, old: StoredPod): boolean {
  return !deepEqual(visible(pod), visible(old));
}

function visible(pod: StoredPod) {
  const { metadata, spec, status } = pod;
  const place = [spec.hostname, spec.subdomain, spec.nodeName].map((value) => value ?? '');
  const state = [metadata.deletionTimestamp !== undefined, isPodReady(pod), hasPlace(pod)];
  return [metadata.labels ?? {}, place, state, status.podIP ?? '', status.podIPs ?? []];
}
