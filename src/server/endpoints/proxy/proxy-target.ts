import type { ApiObject } from '../../../base/machinery/api-object.js';
import { badRequestError, StatusError, serviceUnavailableError } from '../../../base/machinery/status-error.js';
import type { DeniedAddresses } from '../../../base/outgoing/denied-addresses.js';
import type { Target } from '../../../base/outgoing/https-connections.js';
import { parseText } from '../../../objects/registry/store/object-codec.js';
import type { ReadNode } from '../../node-agents/read-node.js';
import type { ReadPod } from '../node-agents/read-objects.js';
import type { ResourceRequest } from '../resource-request.js';
import { type ProxyName, parseProxyName, portNumber } from './proxy-name.js';
import { findEndpoint, withoutEndpoints } from './service-endpoint.js';

/** The destination of a proxied request. */
export interface ProxyTarget {
  readonly target: Target;
  readonly isEncrypted: boolean;
  /** Whether this is a node agent, to which this server authenticates with its certificate. */
  readonly isAgent: boolean;
  /** Name and uid of the object in the path. */
  readonly name: string;
  readonly uid: string;
}

/** Finds the server behind a proxy path. Throws a StatusError when it does not exist, or must not be reached. */
export async function findProxyTarget(request: ResourceRequest, denied: DeniedAddresses): Promise<ProxyTarget> {
  const { resource, name } = request;
  const { singular } = resource.definition;
  const asked = parseProxyName(singular, name);
  const { json, uid } = await request.store.get(request.namespace, asked.name).catch((error: unknown) => {
    throw isWithoutEndpoints(error, singular, asked) ? withoutEndpoints(asked.name) : error;
  });
  const object = parseText(resource, json);
  const found = await targetOf(request, singular, asked, object, denied);
  return { isEncrypted: asked.scheme === 'https', isAgent: false, ...found, name: asked.name, uid };
}

/** Whether a service is missing of which only the endpoints were to be looked up, which takes no service. */
function isWithoutEndpoints(error: unknown, singular: string, { port }: ProxyName): boolean {
  const isMissing = error instanceof StatusError && error.reason === 'NotFound';
  return isMissing && singular === 'service' && portNumber(port) === undefined;
}

async function targetOf(
  request: ResourceRequest,
  singular: string,
  asked: ProxyName,
  object: ApiObject,
  denied: DeniedAddresses,
): Promise<Pick<ProxyTarget, 'target'> & Partial<ProxyTarget>> {
  switch (singular) {
    case 'pod':
      return { target: podTarget(object as unknown as ReadPod, asked, denied) };
    case 'service':
      return { target: await findEndpoint(request, object, asked, denied) };
    case 'node':
      return nodeTarget(request, object as unknown as ReadNode, asked);
    default:
      throw new Error(`${singular} has no proxy path`);
  }
}

function podTarget({ spec, status, metadata }: ReadPod, { scheme, port }: ProxyName, denied: DeniedAddresses): Target {
  const host = status?.podIP ?? '';
  if (host === '') throw serviceUnavailableError(`pod ${JSON.stringify(metadata.name)} has no address`);
  checkAddress(host, denied);
  const ports = (spec.containers ?? []).flatMap((container) => container.ports ?? []);
  const usual = ports[0]?.containerPort ?? (scheme === 'https' ? 443 : 80);
  const number = port === '' ? usual : (portNumber(port) ?? ports.find(({ name }) => name === port)?.containerPort);
  if (number === undefined) {
    throw badRequestError(`pod ${JSON.stringify(metadata.name)} has no port named ${JSON.stringify(port)}`);
  }
  return { host, port: number };
}

/** The node's agent, or the server on another port if one is requested. */
function nodeTarget(
  { services }: ResourceRequest,
  node: ReadNode,
  { port }: ProxyName,
): Pick<ProxyTarget, 'target'> & Partial<ProxyTarget> {
  const agents = services.nodeAgents;
  if (agents === undefined) throw serviceUnavailableError('this process does not reach nodes');
  const agent = agents.addressOf(node);
  const number = port === '' ? agent.port : portNumber(port);
  if (number === undefined) throw badRequestError(`${JSON.stringify(port)} is not a port`);
  if (number === agent.port) return { target: agent, isEncrypted: true, isAgent: true };
  return { target: { host: agent.host, port: number } };
}

/** Throws a 400 for an address that must not be reached through this server. */
export function checkAddress(address: string, denied: DeniedAddresses): void {
  if (denied.has(address)) throw new StatusError('BadRequest', 'address not allowed');
}
