import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalAddress, parseCidr } from '../../base/config/network.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { PodMatch } from './nftables/table-settings.js';
import { nftFamily } from './nftables/table-text.js';
import type { ProxyOptions } from './proxy-options.js';
import type { Family } from './rules/family.js';

function isOf(family: Family, address: string): boolean {
  return isIP(address) === (family === 'IPv4' ? 4 : 6);
}

/** The node's first address of the family, an internal one if there is any. */
export function ownNodeAddress(node: Node | undefined, family: Family): string | undefined {
  const own = (node?.status?.addresses ?? []).filter(({ address }) => isOf(family, address));
  const found = own.find(({ type }) => type === 'InternalIP') ?? own.find(({ type }) => type === 'ExternalIP');
  return found === undefined ? undefined : canonicalAddress(found.address);
}

/**
 * The addresses of this machine that serve node ports. Undefined for all but the loopback ones.
 *
 * @param wanted ranges, or `primary`
 */
export function nodePortAddresses(
  wanted: readonly string[],
  family: Family,
  node: Node | undefined,
): readonly string[] | undefined {
  if (wanted.includes('primary')) {
    const address = ownNodeAddress(node, family);
    return address === undefined ? [] : [address];
  }
  const ranges = wanted.flatMap((text) => {
    const range = parseCidr(text);
    return range?.family === (family === 'IPv4' ? 4 : 6) ? [{ text, prefix: range.prefix }] : [];
  });
  if (ranges.length === 0 || ranges.some(({ prefix }) => prefix === 0)) return undefined;
  const list = new BlockList();
  const name = family === 'IPv4' ? 'ipv4' : 'ipv6';
  for (const { text, prefix } of ranges) list.addSubnet(text.split('/')[0] ?? '', prefix, name);
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const found = own.filter(({ address, internal }) => !internal && isOf(family, address) && list.check(address, name));
  return [...new Set(found.map(({ address }) => canonicalAddress(address)))].sort();
}

/** The conditions that match packets of pods; undefined when none are configured for the family. */
export function podMatch(options: ProxyOptions, family: Family): PodMatch | undefined {
  if (options.detectLocalMode === 'BridgeInterface') return byInterface(options.podBridgeInterface);
  if (options.detectLocalMode === 'InterfaceNamePrefix') return byInterface(`${options.podInterfaceNamePrefix}*`);
  const digit = family === 'IPv4' ? 4 : 6;
  const range = options.clusterCidrs.find((text) => parseCidr(text)?.family === digit);
  if (range === undefined) return undefined;
  const saddr = `${nftFamily(family)} saddr`;
  return { isPod: `${saddr} ${range}`, isNoPod: `${saddr} != ${range}` };
}

function byInterface(name: string): PodMatch {
  return { isPod: `iifname "${name}"`, isNoPod: `iifname != "${name}"` };
}
