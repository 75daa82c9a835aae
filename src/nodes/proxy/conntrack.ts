import { isIPv6 } from 'node:net';
import { canonicalAddress } from '../../base/config/network.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ForwardedPort } from './cluster-view.js';
import { runTool } from './nftables/run-program.js';
import type { Family } from './rules/family.js';

export interface TrackedFlow {
  readonly destination: string;
  readonly destinationPort: number;
  /** The real destination of the packets, which is the sender of the responses. */
  readonly target: string;
  readonly targetPort: number;
}

/** Parses the output of `conntrack -L`. */
export function readFlows(text: string): TrackedFlow[] {
  return text.split('\n').flatMap((line) => {
    const all = (name: string) =>
      [...line.matchAll(new RegExp(`(?:^| )${name}=(\\S+)`, 'g'))].map(([, value]) => value);
    const [[, target], [destination], [, targetPort], [destinationPort]] = [
      all('src'),
      all('dst'),
      all('sport'),
      all('dport'),
    ];
    if (target === undefined || destination === undefined) return [];
    const plain = (address: string) => (isIPv6(address) ? canonicalAddress(address) : address);
    return [
      {
        destination: plain(destination),
        destinationPort: Number(destinationPort),
        target: plain(target),
        targetPort: Number(targetPort),
      },
    ];
  });
}

/** UDP frontends, and the endpoints that each may have, as `address port`. */
export type Frontends = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The frontends of UDP ports. A flow to a serving endpoint continues whatever the policies say, like TCP connections.
 * Node ports are keys without an address; only those with endpoints are included, since other programs may use the same
 * number.
 */
export function udpFrontends(ports: Iterable<ForwardedPort>): Frontends {
  const found = new Map<string, ReadonlySet<string>>();
  for (const { port, all } of ports) {
    if (port.protocol !== 'udp') continue;
    const targets = new Set(
      all.filter(({ isServing }) => isServing).map((target) => `${target.address} ${target.port}`),
    );
    for (const address of [port.clusterIP, ...port.externalIPs, ...port.loadBalancerIPs]) {
      found.set(`${address} ${port.port}`, targets);
    }
    if (port.nodePort !== 0 && targets.size > 0) found.set(` ${port.nodePort}`, targets);
  }
  return found;
}

/** The flows to endpoints that no longer exist. */
export function staleFlows(flows: readonly TrackedFlow[], frontends: Frontends): TrackedFlow[] {
  return flows.filter(({ destination, destinationPort, target, targetPort }) => {
    const targets = frontends.get(`${destination} ${destinationPort}`) ?? frontends.get(` ${destinationPort}`);
    return targets !== undefined && !targets.has(`${target} ${targetPort}`);
  });
}

/**
 * Deletes UDP flows whose endpoint no longer exists: the kernel would send their packets there as long as packets
 * arrive.
 */
export class Conntrack {
  private hasWarned = false;

  constructor(private readonly logger: Logger) {}

  /** @returns the number of deleted flows */
  async forgetStale(family: Family, frontends: Frontends): Promise<number> {
    if (frontends.size === 0 || this.hasWarned) return 0;
    const flags = ['-p', 'udp', '-f', family === 'IPv4' ? 'ipv4' : 'ipv6'];
    const { code, output, errors } = await runTool('conntrack', ['-L', ...flags]);
    if (code !== 0) {
      if (code === undefined) {
        this.hasWarned = true;
        this.logger.warn(
          'the program conntrack is missing: UDP flows to removed endpoints continue until they are idle',
        );
      } else this.logger.warn('tracked flows could not be listed', { error: errors.trim() });
      return 0;
    }
    const stale = staleFlows(readFlows(output), frontends);
    const groups = new Map(
      stale.map((flow) => [
        `${flow.destination} ${flow.destinationPort} ${flow.target} ${flow.targetPort}`,
        [
          '--orig-dst',
          flow.destination,
          '--orig-port-dst',
          `${flow.destinationPort}`,
          '--reply-src',
          flow.target,
        ].concat('--reply-port-src', `${flow.targetPort}`),
      ]),
    );
    for (const group of groups.values()) await runTool('conntrack', ['-D', ...flags, ...group]);
    return stale.length;
  }
}
