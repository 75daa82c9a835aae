import { isIP } from 'node:net';
import { parse } from 'yaml';

/** The hosts of the servers that a published kubeconfig names; none if the document is not a kubeconfig. */
export function publishedServers(document: string): readonly string[] {
  try {
    const { clusters = [] } = parse(document) as { clusters?: readonly { cluster?: { server?: unknown } }[] };
    return clusters.map(({ cluster }) => new URL(String(cluster?.server)).hostname.replace(/^\[(.*)\]$/, '$1'));
  } catch {
    return [];
  }
}

/** Whether a host name means the local machine wherever it is used. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
