import { isIPv6 } from 'node:net';
import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Clock } from '../../base/machinery/clock.js';
import { serverContext } from '../../base/machinery/internal-context.js';
import { cloneJson } from '../../base/machinery/json/exact-numbers.js';
import { deepEqual } from '../../base/machinery/patch/json-value.js';
import { decode } from '../../base/machinery/schema/index.js';
import { StatusError } from '../../base/machinery/status-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { EndpointSubset, Endpoints } from '../../objects/apis/core/v1/endpoints.types.js';
import type { Service } from '../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { Store } from '../../objects/registry/store/store.js';
import type { ServingAddress } from './serving-leases.js';

const namespace = 'default';
const serviceName = 'kubernetes';
/** Name of the service's port, and of the ports that implement it. */
const portName = 'https';
const protocol = 'TCP';
const admitted = async () => {};

export interface ApiEndpointsDependencies {
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly services: Store;
  readonly endpoints: Store;
  readonly slices: Store;
}

/** Addresses of one family with one port: the content of one slice. */
interface Group {
  readonly family: 'IPv4' | 'IPv6';
  readonly port: number;
  readonly ips: string[];
}

/**
 * The Endpoints and EndpointSlices of the service `kubernetes`, from which programs in the cluster learn the addresses
 * of the API. Many processes may write them at once; each writes only objects that are wrong.
 */
export class ApiEndpoints {
  constructor(private readonly dependencies: ApiEndpointsDependencies) {}

  /** Makes the objects list exactly these addresses. Throws a StatusError. */
  async publish(addresses: readonly ServingAddress[]): Promise<void> {
    const groups = groupsOf(addresses);
    const main = await this.mainGroup(groups);
    const slices = new Map(groups.map((group) => [sliceName(group, main), group]));
    for (const [name, group] of slices) await this.publishSlice(name, group);
    // Write the Endpoints last: they record which slices exist.
    const before = groupsOf(await this.published());
    if (!deepEqual(before, groups)) {
      const candidates = new Set([serviceName, ...before.map((group) => sliceName(group, undefined))]);
      for (const name of candidates) if (!slices.has(name)) await this.removeSlice(name);
    }
    await this.publishEndpoints(groups);
  }

  /**
   * The group of addresses that the service itself routes to. Corrects the service's port when no process serves on it
   * any longer.
   */
  private async mainGroup(groups: readonly Group[]): Promise<Omit<Group, 'ips'> | undefined> {
    const service = (await this.read(this.dependencies.services, serviceName)) as Service | undefined;
    const [first] = groups;
    if (service === undefined || first === undefined) return first;
    const family = isIPv6(service.spec.clusterIP ?? '') ? 'IPv6' : 'IPv4';
    const target = service.spec.ports?.find(({ name }) => name === portName)?.targetPort;
    if (typeof target !== 'number' || groups.some(({ port }) => port === target)) {
      return { family, port: Number(target) };
    }
    const { port } = first;
    await this.dependencies.services.update(this.context(), namespace, serviceName, {
      dryRun: false,
      validate: admitted,
      transform: (live) => {
        const object = cloneJson(live) as ApiObject & Service;
        for (const entry of object.spec.ports ?? []) if (entry.name === portName) entry.targetPort = port;
        return object;
      },
    });
    return { family, port };
  }

  private async published(): Promise<ServingAddress[]> {
    const live = (await this.read(this.dependencies.endpoints, serviceName)) as Endpoints | undefined;
    return (live?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
      ports.flatMap(({ port }) => addresses.map(({ ip }) => ({ ip, port }))),
    );
  }

  private async publishEndpoints(groups: readonly Group[]): Promise<void> {
    const byPort = new Map<number, string[]>();
    for (const { port, ips } of groups) byPort.set(port, [...(byPort.get(port) ?? []), ...ips]);
    const subsets: EndpointSubset[] = [...byPort].map(([port, ips]) => ({
      addresses: ips.map((ip) => ({ ip })),
      ports: [{ name: portName, port, protocol }],
    }));
    // The Endpoints already have slices; this label stops the mirroring controller from making more.
    const labels = { [`endpointslice.${this.dependencies.names.labelPrefix}/skip-mirror`]: 'true' };
    await this.write(this.dependencies.endpoints, serviceName, labels, { subsets }, (live) =>
      deepEqual((live as ApiObject & Endpoints).subsets ?? [], subsets),
    );
  }

  private async publishSlice(name: string, { family, port, ips }: Group): Promise<void> {
    const content: Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'> = {
      addressType: family,
      endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports: [{ name: portName, port, protocol }],
    } as Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>;
    const labels = { [`${this.dependencies.names.labelPrefix}/service-name`]: serviceName };
    const { endpoints, ports } = content;
    await this.write(this.dependencies.slices, name, labels, content, (live) => {
      const slice = live as ApiObject & EndpointSlice;
      return deepEqual([slice.endpoints ?? [], slice.ports ?? []], [endpoints, ports]);
    });
  }

  private async removeSlice(name: string): Promise<void> {
    try {
      await this.dependencies.slices.delete(this.context(), namespace, name, { dryRun: false, validate: admitted });
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
    }
  }

  private async write(
    store: Store,
    name: string,
    labels: Readonly<Record<string, string>>,
    content: object,
    isRight: (live: ApiObject) => boolean,
  ): Promise<void> {
    const { definition, served } = store.resource;
    const fresh = () => {
      const object = decode(served.type, { metadata: { name, namespace, labels }, ...content }).value as ApiObject;
      definition.strategy.applyDefaults?.(object);
      return object;
    };
    await store.update(this.context(served.version), namespace, name, {
      dryRun: false,
      validate: admitted,
      forceAllowCreate: true,
      transform: (live) => {
        if (live === undefined) return fresh();
        const isLabelled = Object.entries(labels).every(([key, value]) => live.metadata.labels?.[key] === value);
        if (isLabelled && isRight(live)) return live;
        const metadata = { ...live.metadata, labels: { ...live.metadata.labels, ...labels } };
        return { ...fresh(), metadata };
      },
    });
  }

  private async read(store: Store, name: string): Promise<ApiObject | undefined> {
    try {
      return parseStored(store.resource, await store.get(namespace, name));
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }

  private context(apiVersion = 'v1') {
    const context = serverContext(this.dependencies.clock.now());
    return { ...context, requestInfo: { ...context.requestInfo, apiVersion } };
  }
}

function groupsOf(addresses: readonly ServingAddress[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { ip, port } of addresses) {
    const family = isIPv6(ip) ? 'IPv6' : 'IPv4';
    const id = `${family} ${port}`;
    const group = groups.get(id) ?? { family, port, ips: [] };
    group.ips.push(ip);
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** The group that the service routes to gets the slice with the well-known name. */
function sliceName(group: Omit<Group, 'ips'>, main: Omit<Group, 'ips'> | undefined): string {
  const isMain = group.family === main?.family && group.port === main.port;
  return isMain ? serviceName : `${serviceName}-${group.family.toLowerCase()}-${group.port}`;
}
