import type { ApiObject } from '../machinery/api-object.js';
import type { GroupResource } from '../machinery/group-version.js';
import type { ServiceResolution } from '../machinery/service-resolution.js';
import { groupName, type VendorNames } from '../machinery/vendor.js';
import type { Target } from './https-connections.js';
import { ServiceFault } from './service-fault.js';

/** Cached services and their endpoints. */
export interface ServiceMemory {
  of<V>(
    resource: GroupResource,
    project: (object: ApiObject) => V,
  ): {
    get(namespace: string, name: string): V | undefined;
    inNamespace(namespace: string): Iterable<V>;
  };
}

/** Resolves the service of a webhook or of an extension server to an address. */
export interface ServiceResolver {
  /** An address for a new connection. Throws {@link ServiceFault}. */
  resolve(namespace: string, name: string, port: number): Target;
}

/** @param addresses `host:port` by `namespace/name` or `namespace/name:port`; they come before everything else. */
export function serviceResolver(
  resolution: ServiceResolution,
  addresses: ReadonlyMap<string, Target>,
  listers: ServiceMemory,
  names: VendorNames,
): ServiceResolver {
  const otherwise = resolverOf(resolution, listers, names);
  return {
    resolve: (namespace, name, port) =>
      addresses.get(`${namespace}/${name}:${port}`) ??
      addresses.get(`${namespace}/${name}`) ??
      otherwise.resolve(namespace, name, port),
  };
}

const resolvers = new WeakMap<object, ServiceResolver>();

/** {@link serviceResolver}, once for all parts of a process that share the listers, since it caches services. */
export function sharedServiceResolver(...args: Parameters<typeof serviceResolver>): ServiceResolver {
  const listers = args[2];
  const known = resolvers.get(listers);
  if (known !== undefined) return known;
  const made = serviceResolver(...args);
  resolvers.set(listers, made);
  return made;
}

function resolverOf(resolution: ServiceResolution, listers: ServiceMemory, names: VendorNames): ServiceResolver {
  switch (resolution) {
    case 'endpoints':
      return new EndpointsResolver(listers, names);
    case 'cluster-ip':
      return new ClusterAddressResolver(listers);
    case 'none':
      return {
        resolve: (namespace, name) => {
          throw new ServiceFault(`no address is configured for service "${namespace}/${name}"`, 'ServiceAccessError');
        },
      };
  }
}

interface ServicePort {
  readonly name: string;
  readonly port: number;
}

interface KnownService {
  readonly type: string;
  readonly clusterIP: string;
  readonly ports: readonly ServicePort[];
}

const services = { group: '', resource: 'services' };

function knownService(object: ApiObject): KnownService {
  const {
    type = '',
    clusterIP = '',
    ports = [],
  } = object.spec as {
    type?: string;
    clusterIP?: string;
    ports?: { name?: string; port: number }[];
  };
  return { type, clusterIP, ports: ports.map(({ name = '', port }) => ({ name, port })) };
}

function notFound(name: string): ServiceFault {
  return new ServiceFault(`service "${name}" not found`, 'ServiceNotFound');
}

function portOf(service: KnownService, name: string, port: number): ServicePort {
  const found = service.ports.find((one) => one.port === port);
  if (found === undefined) {
    throw new ServiceFault(`no service port ${port} found for service "${name}"`, 'ServicePortError');
  }
  return found;
}

/** Connects to the cluster IP of the service: for servers that reach the cluster's network. */
class ClusterAddressResolver implements ServiceResolver {
  private readonly services: { get(namespace: string, name: string): KnownService | undefined };

  constructor(listers: ServiceMemory) {
    this.services = listers.of(services, knownService);
  }

  resolve(namespace: string, name: string, port: number): Target {
    const service = this.services.get(namespace, name);
    if (service === undefined) throw notFound(name);
    portOf(service, name, port);
    if (service.clusterIP === '' || service.clusterIP === 'None') {
      throw new ServiceFault(`service "${name}" has no cluster address`, 'ServiceAccessError');
    }
    return { host: service.clusterIP, port };
  }
}

/** Where the ready endpoints of one slice listen, by the name of the service port. */
interface KnownEndpoints {
  /** The name of the service; if empty, the object's own name. */
  readonly service: string;
  readonly sets: readonly { readonly addresses: readonly string[]; readonly ports: ReadonlyMap<string, number> }[];
}

/** Connects to one of the ready endpoints of the service. */
class EndpointsResolver implements ServiceResolver {
  private readonly services: { get(namespace: string, name: string): KnownService | undefined };
  private readonly slices: { inNamespace(namespace: string): Iterable<KnownEndpoints> };
  private readonly endpoints: { get(namespace: string, name: string): KnownEndpoints | undefined };

  constructor(listers: ServiceMemory, names: VendorNames) {
    const label = `${names.labelPrefix}/service-name`;
    this.services = listers.of(services, knownService);
    const slices = { group: groupName('discovery', names), resource: 'endpointslices' };
    this.slices = listers.of(slices, (object) => knownSlice(object, label));
    this.endpoints = listers.of({ group: '', resource: 'endpoints' }, knownEndpoints);
  }

  resolve(namespace: string, name: string, port: number): Target {
    const service = this.services.get(namespace, name);
    if (service === undefined) throw notFound(name);
    if (service.type === 'ExternalName') {
      throw new ServiceFault(`service "${name}" is of type ExternalName`, 'ServiceAccessError');
    }
    const { name: portName } = portOf(service, name, port);
    const own = [...this.slices.inNamespace(namespace)].filter((slice) => slice.service === name);
    // Clusters without EndpointSlices have Endpoints objects, named like the service.
    const known = own.length > 0 ? own : [this.endpoints.get(namespace, name)].filter((one) => one !== undefined);
    const targets = known.flatMap((one) => targetsOf(one, portName));
    const chosen = targets[Math.floor(Math.random() * targets.length)];
    if (chosen === undefined) {
      const reason = known.length === 0 ? 'EndpointsNotFound' : 'MissingEndpoints';
      throw new ServiceFault(`no endpoints available for service "${name}"`, reason, portName);
    }
    return chosen;
  }
}

function targetsOf({ sets }: KnownEndpoints, portName: string): Target[] {
  return sets.flatMap(({ addresses, ports }) => {
    const port = ports.get(portName);
    return port === undefined ? [] : addresses.map((host) => ({ host, port }));
  });
}

interface EndpointPort {
  readonly name?: string;
  readonly port?: number;
}

function portsByName(ports: readonly EndpointPort[] | undefined): ReadonlyMap<string, number> {
  return new Map((ports ?? []).flatMap(({ name = '', port }) => (port === undefined ? [] : [[name, port] as const])));
}

function knownSlice(object: ApiObject, label: string): KnownEndpoints {
  const { endpoints, ports, addressType } = object as unknown as {
    endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[];
    ports?: EndpointPort[];
    addressType?: string;
  };
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  const addresses = addressType === 'FQDN' ? [] : ready.flatMap((endpoint) => endpoint.addresses?.slice(0, 1) ?? []);
  return { service: object.metadata.labels?.[label] ?? '', sets: [{ addresses, ports: portsByName(ports) }] };
}

function knownEndpoints(object: ApiObject): KnownEndpoints {
  const { subsets = [] } = object as unknown as {
    subsets?: { addresses?: { ip: string }[]; ports?: EndpointPort[] }[];
  };
  const sets = subsets.map(({ addresses = [], ports }) => ({
    addresses: addresses.map(({ ip }) => ip),
    ports: portsByName(ports),
  }));
  return { service: '', sets };
}
