import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';

export type IpFamily = 'ipv4' | 'ipv6';

/** An IP network as written: the address may have bits set beyond the prefix. */
export interface IpNetwork {
  readonly address: string;
  readonly prefix: number;
  readonly family: IpFamily;
}

/**
 * The family of an IP address; undefined for a string that is not one. Zones (`%eth0`) and leading zeros are refused.
 */
export function ipFamily(text: string): IpFamily | undefined {
  if (isIPv4(text)) return 'ipv4';
  return isIPv6(text) && !text.includes('%') ? 'ipv6' : undefined;
}

/** The one canonical spelling of an IP address (RFC 5952 for IPv6); undefined for a string that is not an address. */
export function canonicalIp(text: string): string | undefined {
  const family = ipFamily(text);
  if (family === undefined) return undefined;
  return family === 'ipv4' ? text : new SocketAddress({ address: text, family }).address;
}

/** Parses `<address>/<prefix length>`; undefined for any other string. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = text.slice(0, slash);
  const prefixText = text.slice(slash + 1);
  const family = ipFamily(address);
  if (family === undefined || !/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText);
  const isPlain = String(prefix) === prefixText;
  return isPlain && prefix <= (family === 'ipv4' ? 32 : 128) ? { address, prefix, family } : undefined;
}

/** Whether every address of `inner` lies in `outer` and `outer` has more addresses. */
export function isStrictSubset(inner: IpNetwork, outer: IpNetwork): boolean {
  if (inner.family !== outer.family || inner.prefix <= outer.prefix) return false;
  const block = new BlockList();
  block.addSubnet(outer.address, outer.prefix, outer.family);
  return block.check(inner.address, inner.family);
}

/** Whether no bit of the address is set beyond the prefix and the address is spelled canonically. */
export function isCanonicalNetwork(network: IpNetwork): boolean {
  if (canonicalIp(network.address) !== network.address) return false;
  const bytes = ipBytes(network);
  return bytes.every((byte, i) => {
    const fixedBits = Math.min(8, Math.max(0, network.prefix - i * 8));
    return (byte & (0xff >> fixedBits)) === 0;
  });
}

/** The network in canonical form, without bits beyond the prefix. */
export function canonicalNetwork(network: IpNetwork): string {
  const bytes = ipBytes(network).map((byte, i) => {
    const fixedBits = Math.min(8, Math.max(0, network.prefix - i * 8));
    return byte & ~(0xff >> fixedBits);
  });
  if (network.family === 'ipv4') return `${bytes.join('.')}/${network.prefix}`;
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number)).toString(16),
  );
  return `${canonicalIp(groups.join(':'))}/${network.prefix}`;
}

function ipBytes({ address, family }: IpNetwork): number[] {
  if (family === 'ipv4') return address.split('.').map(Number);
  const [head = '', tail] = withHexTail(address).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = new Array<string>(tail === undefined ? 0 : 8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Turns the dotted end of `::ffff:1.2.3.4` into two groups. */
function withHexTail(address: string): string {
  if (!address.includes('.')) return address;
  const colon = address.lastIndexOf(':');
  const [a = 0, b = 0, c = 0, d = 0] = address
    .slice(colon + 1)
    .split('.')
    .map(Number);
  return `${address.slice(0, colon + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
