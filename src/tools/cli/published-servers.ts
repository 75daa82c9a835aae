import { isIP } from 'node:net';
import { parse } from 'yaml';

/** The hosts of the servers that a published kubeconfig names; none in a text that is no kubeconfig. */
export function publishedServers(document: string): readonly string[] {
  try {
    const { clusters = [] } = parse(document) as { clusters?: readonly { cluster?: { server?: unknown } }[] };
    return clusters.map(({ cluster }) => new URL(String(cluster?.server)).hostname.replace(/^\[(.*)\]$/, '$1'));
  } catch {
    return [];
  }
}

/** Whether a host is this machine to everybody who names it. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
