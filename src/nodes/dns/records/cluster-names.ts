import { isIP } from 'node:net';
import { canonicalAddress } from '../../../base/config/network.js';
import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import type { Namespace } from '../../../objects/apis/core/v1/namespace.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import {
  type EndpointRecord,
  endpointsOf,
  recordAddressesOf,
  type ServiceRecords,
  serviceRecords,
} from './service-records.js';

/** The lookups of names. Services are called `namespace/name`. */
export interface NameSource {
  hasNamespace(name: string): boolean;
  recordsOf(service: string): ServiceRecords | undefined;
  /** The services that have a cluster address. */
  servicesAt(address: string): readonly string[];
  /** The host names of ready endpoints of headless services, with their services. */
  endpointsAt(address: string): readonly { readonly service: string; readonly hostname: string }[];
  /** Whether a pod of a namespace has an address. */
  hasPod(namespace: string, address: string): boolean;
}

interface KeptSlice {
  readonly service: string;
  /** By their address. */
  readonly endpoints: ReadonlyMap<string, readonly EndpointRecord[]>;
}

/** The most names of one address. Many services can lead to one endpoint, and each is looked at for each question. */
const mostNamesAt = 256;

/** The API objects from which names are made, as far as names depend on them. */
export class ClusterNames implements NameSource {
  private readonly services = new Map<string, { readonly name: string; readonly service: Service }>();
  private readonly byName = new Map<string, Service>();
  /** Names of the services without an address. */
  private readonly headless = new Set<string>();
  private readonly slices = new Map<string, KeptSlice>();
  private readonly slicesOf = new Map<string, Map<string, readonly EndpointRecord[]>>();
  private readonly namespaces = new Map<string, string>();
  private readonly namespaceNames = new Set<string>();
  private readonly pods = new Map<string, readonly string[]>();
  private readonly podAddresses = new Map<string, number>();
  private readonly atAddress = new Map<string, Set<string>>();
  private readonly slicesAt = new Map<string, Set<string>>();
  /** Cached records of services, which are dropped when the service changes. */
  private readonly known = new Map<string, ServiceRecords | undefined>();
  private changes = 0;

  /** @param serviceLabel label of a slice: the service that it belongs to */
  constructor(private readonly serviceLabel: string) {}

  /** Grows with every change. */
  get version(): number {
    return this.changes;
  }

  /** Uids of all objects that were added and not removed. */
  readonly uids = {
    services: (): Iterable<string> => this.services.keys(),
    slices: (): Iterable<string> => this.slices.keys(),
    namespaces: (): Iterable<string> => this.namespaces.keys(),
    pods: (): Iterable<string> => this.pods.keys(),
  };

  putService(service: Service & { metadata: ObjectMeta }): void {
    const { uid = '', namespace = '', name = '' } = service.metadata;
    this.removeService(uid);
    const full = `${namespace}/${name}`;
    const kept = { metadata: { name, namespace }, spec: service.spec } as Service;
    this.services.set(uid, { name: full, service: kept });
    this.byName.set(full, kept);
    const addresses = recordAddressesOf(service.spec);
    for (const address of addresses) addTo(this.atAddress, address, full);
    if (addresses.length === 0 && service.spec?.type !== 'ExternalName') this.headless.add(full);
    else this.headless.delete(full);
    this.changed(full);
  }

  removeService(uid: string): void {
    const found = this.services.get(uid);
    if (found === undefined) return;
    this.services.delete(uid);
    for (const address of recordAddressesOf(found.service.spec)) removeFrom(this.atAddress, address, found.name);
    // Another object of the same name may exist by now.
    if (this.byName.get(found.name) === found.service) {
      this.byName.delete(found.name);
      this.headless.delete(found.name);
    }
    this.changed(found.name);
  }

  putSlice({ metadata, endpoints, ports, addressType }: EndpointSlice & { metadata: ObjectMeta }): void {
    const uid = metadata.uid ?? '';
    this.removeSlice(uid);
    const name = metadata.labels?.[this.serviceLabel] ?? '';
    if (name === '') return;
    const service = `${metadata.namespace ?? ''}/${name}`;
    const own = endpointsOf({ endpoints, ports, addressType });
    const kept = Map.groupBy(own, ({ address }) => address);
    this.slices.set(uid, { service, endpoints: kept });
    for (const address of kept.keys()) addTo(this.slicesAt, address, uid);
    const others = this.slicesOf.get(service) ?? new Map<string, readonly EndpointRecord[]>();
    this.slicesOf.set(service, others.set(uid, own));
    this.changed(service);
  }

  removeSlice(uid: string): void {
    const found = this.slices.get(uid);
    if (found === undefined) return;
    this.slices.delete(uid);
    for (const address of found.endpoints.keys()) removeFrom(this.slicesAt, address, uid);
    const others = this.slicesOf.get(found.service);
    others?.delete(uid);
    if (others?.size === 0) this.slicesOf.delete(found.service);
    this.changed(found.service);
  }

  putNamespace({ metadata }: Namespace & { metadata: ObjectMeta }): void {
    const { uid = '', name = '' } = metadata;
    this.namespaces.set(uid, name);
    this.namespaceNames.add(name);
  }

  removeNamespace(uid: string): void {
    const name = this.namespaces.get(uid);
    this.namespaces.delete(uid);
    if (name !== undefined && ![...this.namespaces.values()].includes(name)) this.namespaceNames.delete(name);
  }

  putPod({ metadata, status }: Pod & { metadata: ObjectMeta }): void {
    const { uid = '', namespace = '' } = metadata;
    this.removePod(uid);
    // The addresses of pods that have ended may belong to others by now.
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return;
    const addresses = (status?.podIPs ?? []).flatMap(({ ip }) =>
      isIP(ip ?? '') === 0 ? [] : [canonicalAddress(ip ?? '')],
    );
    if (addresses.length === 0) return;
    const keys = addresses.map((address) => `${namespace} ${address}`);
    this.pods.set(uid, keys);
    for (const key of keys) this.podAddresses.set(key, (this.podAddresses.get(key) ?? 0) + 1);
  }

  removePod(uid: string): void {
    for (const key of this.pods.get(uid) ?? []) {
      const left = (this.podAddresses.get(key) ?? 1) - 1;
      if (left === 0) this.podAddresses.delete(key);
      else this.podAddresses.set(key, left);
    }
    this.pods.delete(uid);
  }

  hasNamespace(name: string): boolean {
    return this.namespaceNames.has(name);
  }

  recordsOf(service: string): ServiceRecords | undefined {
    const found = this.byName.get(service);
    if (found === undefined) return undefined;
    if (!this.known.has(service)) {
      this.known.set(service, serviceRecords(found, this.slicesOf.get(service)?.values() ?? []));
    }
    return this.known.get(service);
  }

  servicesAt(address: string): readonly string[] {
    return [...(this.atAddress.get(address) ?? [])];
  }

  endpointsAt(address: string): readonly { readonly service: string; readonly hostname: string }[] {
    const found = new Map<string, { service: string; hostname: string; isNamed: boolean }>();
    for (const uid of this.slicesAt.get(address) ?? []) {
      if (found.size >= mostNamesAt) break;
      const { service = '', endpoints } = this.slices.get(uid) ?? {};
      if (!this.headless.has(service)) continue;
      for (const { hostname, isNamed } of endpoints?.get(address) ?? [])
        found.set(`${service} ${hostname}`, { service, hostname, isNamed });
    }
    // Configured names are preferred to those made from addresses.
    const all = [...found.values()];
    const named = all.filter(({ isNamed }) => isNamed);
    return named.length > 0 ? named : all;
  }

  hasPod(namespace: string, address: string): boolean {
    return this.podAddresses.has(`${namespace} ${address}`);
  }

  private changed(service: string): void {
    this.known.delete(service);
    this.changes += 1;
  }
}

function addTo(index: Map<string, Set<string>>, key: string, value: string): void {
  const present = index.get(key);
  if (present === undefined) index.set(key, new Set([value]));
  else present.add(value);
}

function removeFrom(index: Map<string, Set<string>>, key: string, value: string): void {
  const present = index.get(key);
  present?.delete(value);
  if (present?.size === 0) index.delete(key);
}
