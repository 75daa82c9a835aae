import type { ObjectMeta } from '../../base/machinery/api-object.js';
import type { Service } from '../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { ProxyNames } from './proxy-names.js';
import { type SliceView, serviceOfSlice, sliceView, type Target, targetsOf } from './rules/endpoint-view.js';
import type { Family } from './rules/family.js';
import { healthCheckPortOf, type ServicePortView, servicePortsOf } from './rules/service-view.js';

/** A port of a service with all of its endpoints, whatever state they are in. */
export interface ForwardedPort {
  readonly port: ServicePortView;
  readonly all: readonly Target[];
}

interface KeptSlice {
  readonly service: string;
  readonly view: SliceView;
  /** A text that changes with every relevant change of the port or its endpoints. */
  readonly text: string;
}

export interface ClusterViewDependencies {
  readonly names: ProxyNames;
  readonly families: readonly Family[];
  /** Called with the name of a service when something that the rules depend on has changed. */
  readonly onChange: (service: string, what: 'service' | 'endpoints', trigger?: number) => void;
}

/** Services and their endpoints, as far as rules depend on them. The name of a service includes its namespace. */
export class ClusterView {
  private readonly services = new Map<string, { readonly name: string; readonly service: Service }>();
  private readonly byName = new Map<string, Service>();
  private readonly slices = new Map<string, KeptSlice>();
  private readonly slicesOf = new Map<string, Map<string, SliceView>>();

  constructor(private readonly dependencies: ClusterViewDependencies) {}

  knownServices(): Iterable<string> {
    return this.services.keys();
  }

  knownSlices(): Iterable<string> {
    return this.slices.keys();
  }

  /** The names of all services. */
  names(): Iterable<string> {
    return this.byName.keys();
  }

  putService(service: Service & { metadata: ObjectMeta }): void {
    const { uid = '', namespace = '', name = '' } = service.metadata;
    const full = `${namespace}/${name}`;
    this.services.set(uid, { name: full, service });
    this.byName.set(full, service);
    this.dependencies.onChange(full, 'service');
  }

  removeService(uid: string): void {
    const known = this.services.get(uid);
    if (known === undefined) return;
    this.services.delete(uid);
    // Another service of the same name may exist by now.
    if (this.byName.get(known.name) === known.service) this.byName.delete(known.name);
    this.dependencies.onChange(known.name, 'service');
  }

  putSlice(slice: EndpointSlice & { metadata: ObjectMeta }): void {
    const { names, families } = this.dependencies;
    const uid = slice.metadata.uid ?? '';
    const service = serviceOfSlice(slice.metadata, names.serviceLabel);
    const view = sliceView(slice);
    if (service === undefined || view === undefined || !families.includes(view.family)) {
      this.removeSlice(uid);
      return;
    }
    const text = JSON.stringify(view);
    const known = this.slices.get(uid);
    if (known?.text === text && known.service === service) return;
    if (known !== undefined && known.service !== service) this.removeSlice(uid);
    this.slices.set(uid, { service, view, text });
    const others = this.slicesOf.get(service) ?? new Map<string, SliceView>();
    this.slicesOf.set(service, others.set(uid, view));
    const trigger = Date.parse(slice.metadata.annotations?.[names.triggerAnnotation] ?? '');
    this.dependencies.onChange(service, 'endpoints', Number.isNaN(trigger) ? undefined : trigger);
  }

  removeSlice(uid: string): void {
    const known = this.slices.get(uid);
    if (known === undefined) return;
    this.slices.delete(uid);
    const others = this.slicesOf.get(known.service);
    others?.delete(uid);
    if (others?.size === 0) this.slicesOf.delete(known.service);
    this.dependencies.onChange(known.service, 'endpoints');
  }

  /** The ports of a service with all of their endpoints, whatever state these are in. */
  portsOf(service: string, family: Family): readonly ForwardedPort[] {
    const found = this.byName.get(service);
    if (found === undefined) return [];
    const slices = [...(this.slicesOf.get(service)?.values() ?? [])].filter((slice) => slice.family === family);
    return servicePortsOf(found, family).map((port) => ({ port, all: targetsOf(slices, port) }));
  }

  /** The port of a service's health check, and how many of its endpoints on the node are ready; undefined if it has none. */
  healthCheckOf(service: string, node: string): { readonly port: number; readonly endpoints: number } | undefined {
    const found = this.byName.get(service);
    const port = found === undefined ? 0 : healthCheckPortOf(found);
    if (port === 0) return undefined;
    const here = new Set<string>();
    for (const family of this.dependencies.families) {
      for (const { all } of this.portsOf(service, family)) {
        for (const { address, node: own, isReady } of all) if (isReady && own === node) here.add(address);
      }
    }
    return { port, endpoints: here.size };
  }
}
