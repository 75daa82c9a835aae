import { type AddressRange, parseCidr } from '../../base/config/network.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import { ApiConnection } from '../connection/api-connection.js';
import { areOwnAddresses, nodeAddresses } from './node-addresses.js';
import { NodeServer } from './node-server.js';
import { PodAddresses } from './pod-addresses.js';
import { PodEvents } from './pod-events.js';
import { SimulatedNode } from './simulated-node.js';

export interface SimulatedNodesSettings {
  readonly access: ApiAccess;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly count: number;
  /** The names of nodes consist of this prefix and their number. */
  readonly namePrefix: string;
  /** The address of the nodes; for 127.0.0.1 on Linux each node gets one of its own in the loopback network. */
  readonly address: string;
  readonly region: string;
  readonly zones: readonly string[];
  readonly capacity: Readonly<Record<string, string>>;
  /** Pods of a node that has no range of its own in the API get addresses from here. */
  readonly podCidr: string;
  readonly leaseMs: number;
  readonly restartBackOffMs: number;
  /** Whether nodes write events about their pods. */
  readonly events: boolean;
  /** The server for logs of containers; undefined: there is none. */
  readonly server: NodeServerCertificates | undefined;
  /** The version that nodes report. */
  readonly version: string;
  readonly timers?: Timers;
  readonly random?: () => number;
}

/** The certificate and key of the nodes' server, and the clients that it accepts. All in PEM. */
export interface NodeServerCertificates {
  /** The port to listen on; 0: any. */
  readonly port: number;
  readonly certificate: string;
  readonly privateKey: string;
  /** Authorities of the clients that may read logs; undefined: everybody may. */
  readonly clientAuthority: string | undefined;
}

/** Nodes that run until they are stopped. */
export interface RunningNodes {
  readonly nodes: readonly SimulatedNode[];
  /** Resolves when the API knows all nodes. */
  readonly registered: Promise<void>;
  /** How many connections they share. */
  readonly connections: number;
  stop(): Promise<void>;
}

const longestBackOffMs = 300_000;

/**
 * Starts nodes. Resolves when their server listens; what fails after that is tried again until they are stopped.
 *
 * @throws the error of a server that can't listen
 */
export async function startSimulatedNodes(options: SimulatedNodesSettings): Promise<RunningNodes> {
  const { count, names, logger, timers = systemTimers, random = Math.random, zones } = options;
  const connection = new ApiConnection(options.access);
  const stop = new AbortController();
  const range = parseCidr(options.podCidr);
  if (range === undefined) throw new Error(`${options.podCidr} is not a range of addresses`);
  const size = partSize(range, count, Number(options.capacity.pods ?? 0));
  const addresses = nodeAddresses(options.address, count);
  const nodes: SimulatedNode[] = [];
  const server = await startServer(options.server, addresses, timers, nodes);
  const made = Array.from({ length: count }, (_, index) => {
    const name = `${options.namePrefix}${index}`;
    const api = connection.as(`system:node:${name}`, ['system:nodes']);
    return new SimulatedNode({
      api,
      profile: {
        name,
        index,
        address: addresses[index] as string,
        port: server?.port,
        region: options.region,
        zone: zones[index % zones.length] ?? '',
        capacity: options.capacity,
        version: options.version,
      },
      names,
      timers,
      random,
      logger,
      backOff: { firstMs: options.restartBackOffMs, longestMs: Math.max(options.restartBackOffMs, longestBackOffMs) },
      leaseMs: options.leaseMs,
      addresses: new PodAddresses(range, BigInt(index) * size, size),
      events: options.events ? new PodEvents(api, name, timers, stop.signal) : undefined,
    });
  });
  nodes.push(...made);
  let left = nodes.length;
  let work: Promise<unknown> = Promise.resolve();
  const registered = new Promise<void>((resolve) => {
    const one = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    if (left === 0) resolve();
    stop.signal.addEventListener('abort', () => resolve());
    work = Promise.all(nodes.map((node) => node.run(stop.signal, one)));
  });
  return {
    nodes,
    registered,
    get connections() {
      return connection.size;
    },
    stop: async () => {
      stop.abort();
      await work;
      connection.stop();
      await server?.stop();
    },
  };
}

/** The server that the nodes share. It knows the nodes that are in the list at the time of a request. */
async function startServer(
  certificates: NodeServerCertificates | undefined,
  addresses: readonly string[],
  timers: Timers,
  nodes: readonly SimulatedNode[],
): Promise<NodeServer | undefined> {
  if (certificates === undefined) return undefined;
  const areOwn = areOwnAddresses(addresses);
  return await NodeServer.start({
    ...certificates,
    addresses,
    timers,
    findPod: (namespace, name, address) => {
      for (const node of nodes) {
        if (areOwn && node.address !== address) continue;
        const found = node.findPod(namespace, name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    podsAt: (address) => nodes.find((node) => areOwn && node.address === address)?.pods(),
  });
}

/** How many addresses each node has: 256 or the next power of two for its pods, fewer if the range is too small. */
function partSize({ family, prefix }: AddressRange, nodes: number, pods: number): bigint {
  let size = 256n;
  while (size < BigInt(pods) + 2n) size *= 2n;
  const all = 1n << BigInt((family === 4 ? 32 : 128) - prefix);
  while (size > 2n && size * BigInt(nodes) > all) size /= 2n;
  return size;
}
