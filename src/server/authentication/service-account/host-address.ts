import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

const anyAddresses: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * The address of this machine for URLs that others use: the address that the server listens on. For a server that
 * listens on all addresses, the first one that others can reach.
 */
export function hostAddress(bindAddress: string): string {
  if (!anyAddresses.has(bindAddress)) return inUrl(bindAddress);
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
    .sort((a, b) => a.family.localeCompare(b.family));
  return inUrl(outside[0]?.address ?? '127.0.0.1');
}

function inUrl(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}
