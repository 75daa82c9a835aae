import { isIP } from 'node:net';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { DeniedAddresses } from '../../../base/outgoing/denied-addresses.js';
import type { Target } from '../../../base/outgoing/https-connections.js';
import { isStoredResource } from '../../../objects/registry/resource-registry.js';
import { parseText } from '../../../objects/registry/store/object-codec.js';
import type { ReadPod } from '../node-agents/read-objects.js';
import { remoteUnavailableError } from '../remote/handle-remote.js';
import type { ResourceRequest } from '../resource-request.js';
import { type ProxyName, portNumber } from './proxy-name.js';

/** A ready endpoint, with the pod that it names as its target. */
interface Candidate {
  readonly ip: string;
  readonly port: number;
  readonly pod: string;
}

interface EndpointPort {
  readonly name?: string;
  readonly port?: number;
}

interface Reference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Real services have at most some thousand endpoints. */
const maxSlices = 1000;
/** Endpoints whose pod does not have their address are rare; a service with more of them is considered fake. */
const maxAttempts = 10;

/**
 * A ready endpoint of a service, chosen at random. Only addresses of pods of the namespace count: otherwise a user who
 * may write endpoints could direct this server to any address. Throws a 503 when there is none.
 */
export async function findEndpoint(
  request: ResourceRequest,
  service: ApiObject,
  asked: ProxyName,
  denied: DeniedAddresses,
): Promise<Target> {
  const portName = portNameOf(service, asked);
  const candidates = shuffled((await candidatesOf(request, asked.name, portName)).filter(({ ip }) => !denied.has(ip)));
  for (const { ip, port, pod } of candidates.slice(0, maxAttempts)) {
    if (await hasAddress(request, pod, ip)) return { host: ip, port };
  }
  throw withoutEndpoints(asked.name);
}

/** The 503 for a service that has no ready endpoint. */
export function withoutEndpoints(service: string): StatusError {
  return remoteUnavailableError(`no endpoints available for service ${JSON.stringify(service)}`);
}

/** Endpoints have only the names of the service's ports; a number is looked up in the service. */
function portNameOf(service: ApiObject, { name, port }: ProxyName): string {
  const number = port === '' ? undefined : portNumber(port);
  if (number === undefined) return port;
  const { ports = [] } = service.spec as { ports?: readonly { name?: string; port: number }[] };
  const found = ports.find((one) => one.port === number);
  if (found === undefined) {
    throw remoteUnavailableError(`no service port ${number} found for service ${JSON.stringify(name)}`);
  }
  return found.name ?? '';
}

/**
 * Takes candidates from the slices of the service or, in clusters without slices, from the Endpoints object of its
 * name.
 */
async function candidatesOf(request: ResourceRequest, service: string, portName: string): Promise<Candidate[]> {
  const { services, namespace } = request;
  const { names } = services;
  const slices = services.registry.findServed(groupName('discovery', names), 'v1', 'endpointslices');
  if (slices !== undefined && isStoredResource(slices)) {
    const { items } = await services.storeOf(slices).list({ namespace, limit: maxSlices, notOlderThan: 0n });
    const label = `${names.labelPrefix}/service-name`;
    const own = items
      // Most slices of the namespace are those of other services, and need not be parsed.
      .filter(({ json }) => json.includes(JSON.stringify(service)))
      .map(({ json }) => parseText(slices, json))
      .filter(({ metadata }) => metadata.labels?.[label] === service);
    if (own.length > 0) return own.flatMap((slice) => ofSlice(slice, namespace, portName));
  }
  const endpoints = await readCore(request, 'endpoints', service);
  return endpoints === undefined ? [] : ofEndpoints(endpoints, namespace, portName);
}

function ofSlice(slice: ApiObject, namespace: string, portName: string): Candidate[] {
  const { endpoints, ports } = slice as unknown as {
    endpoints?: { addresses?: string[]; conditions?: { ready?: boolean }; targetRef?: Reference }[];
    ports?: EndpointPort[];
  };
  const port = portOf(ports, portName);
  if (port === undefined) return [];
  return (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) =>
    conditions?.ready === false ? [] : candidate(addresses?.[0], port, targetRef, namespace),
  );
}

function ofEndpoints(object: ApiObject, namespace: string, portName: string): Candidate[] {
  const { subsets } = object as unknown as {
    subsets?: { addresses?: { ip: string; targetRef?: Reference }[]; ports?: EndpointPort[] }[];
  };
  return (subsets ?? []).flatMap(({ addresses, ports }) => {
    const port = portOf(ports, portName);
    if (port === undefined) return [];
    return (addresses ?? []).flatMap(({ ip, targetRef }) => candidate(ip, port, targetRef, namespace));
  });
}

function portOf(ports: readonly EndpointPort[] | undefined, portName: string): number | undefined {
  return (ports ?? []).find(({ name = '' }) => name === portName)?.port;
}

function candidate(ip: string | undefined, port: number, ref: Reference | undefined, namespace: string): Candidate[] {
  const isPod = ref?.kind === 'Pod' && (ref.namespace ?? namespace) === namespace;
  return ip === undefined || isIP(ip) === 0 || !isPod || ref.name === undefined ? [] : [{ ip, port, pod: ref.name }];
}

async function hasAddress(request: ResourceRequest, name: string, ip: string): Promise<boolean> {
  const { status } = ((await readCore(request, 'pods', name)) ?? {}) as ReadPod;
  return [status?.podIP, ...(status?.podIPs ?? []).map((one) => one.ip)].includes(ip);
}

function shuffled(candidates: readonly Candidate[]): Candidate[] {
  return candidates
    .map((one) => [Math.random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

/** An object of the core group in the namespace of the request; undefined when there is none, or its kind is not served. */
async function readCore(
  { services, namespace }: ResourceRequest,
  resource: string,
  name: string,
): Promise<ApiObject | undefined> {
  const served = services.registry.findServed('', 'v1', resource);
  if (served === undefined || !isStoredResource(served)) return undefined;
  try {
    return parseText(served, (await services.storeOf(served).get(namespace, name)).json);
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  }
}
