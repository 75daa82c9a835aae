import {
  canonicalIp,
  type IpFamily,
  parseIpNetwork,
} from '../../../../objects/apis/networking/v1/validation/ip-network.js';

/**
 * The most addresses of a range, so that offsets are exact numbers: only the first part of a larger network is used.
 */
const mostAddresses = 2n ** 47n;

/** Whether a string is a network of the given family with room for an address. */
export function hasAddresses(cidr: string, family: IpFamily): boolean {
  const network = parseIpNetwork(cidr);
  return network?.family === family && network.prefix <= (family === 'ipv4' ? 30 : 127);
}

/**
 * The addresses of a network that services may have, numbered from 0, without the network address and the broadcast
 * address.
 */
export class IpRange {
  readonly family: IpFamily;
  /** The number of addresses. */
  readonly size: number;
  private readonly first: bigint;

  /** Throws for a string that is not a network or has no room for an address. */
  constructor(readonly cidr: string) {
    const network = parseIpNetwork(cidr);
    if (network === undefined) throw new Error(`${JSON.stringify(cidr)} is not an IP network`);
    this.family = network.family;
    const bits = network.family === 'ipv4' ? 32 : 128;
    const total = 1n << BigInt(bits - network.prefix);
    const usable = network.family === 'ipv4' ? total - 2n : total - 1n;
    if (usable < 1n) throw new Error(`the network ${cidr} is too small to take addresses from`);
    this.size = Number(usable < mostAddresses ? usable : mostAddresses);
    const base = addressValue(network.address, network.family);
    this.first = base - (base % total) + 1n;
  }

  /** The address at an offset, in canonical form. */
  at(offset: number): string {
    return addressText(this.first + BigInt(offset), this.family);
  }

  /** The offset of a canonical address; undefined when it lies outside. */
  offsetOf(address: string): number | undefined {
    if ((address.includes(':') ? 'ipv6' : 'ipv4') !== this.family) return undefined;
    const offset = addressValue(address, this.family) - this.first;
    return offset >= 0n && offset < BigInt(this.size) ? Number(offset) : undefined;
  }
}

function addressValue(address: string, family: IpFamily): bigint {
  if (family === 'ipv4') return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
  const [head = '', tail] = expandDotted(address).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = new Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n);
}

/** Converts the dotted end of `::ffff:1.2.3.4` to two groups. */
function expandDotted(address: string): string {
  if (!address.includes('.')) return address;
  const start = address.lastIndexOf(':') + 1;
  const value = addressValue(address.slice(start), 'ipv4');
  return `${address.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function addressText(value: bigint, family: IpFamily): string {
  if (family === 'ipv4') return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups: string[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(((value >> shift) & 0xffffn).toString(16));
  const text = groups.join(':');
  return canonicalIp(text) ?? text;
}
