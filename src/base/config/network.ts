import { isIP } from 'node:net';

/** An address range; `first` is the network address as a number. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  /** The number of leading bits that all addresses of the range share. */
  readonly prefix: number;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Reads `10.0.0.0/16` or `fd00::/112`; bits after the prefix are dropped. Undefined when the text is not a range. */
export function parseCidr(text: string): AddressRange | undefined {
  const match = /^([^/%]+)\/(\d{1,3})$/.exec(text);
  const address = match?.[1] ?? '';
  const family = isIP(address);
  if (family === 0) return undefined;
  const bits = family === 4 ? 32 : 128;
  const prefix = Number(match?.[2]);
  if (prefix > bits) return undefined;
  const host = BigInt(bits - prefix);
  return { family: family === 4 ? 4 : 6, first: (addressToNumber(address, family) >> host) << host, prefix };
}

/** The address at `offset` from the start of a range, as text. */
export function addressAt(range: AddressRange, offset: bigint): string {
  const value = range.first + offset;
  if (range.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 65535n).toString(16));
  // The URL parser produces the canonical short form of IPv6.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Reads `30000-32767`; undefined when the text is not a range of ports. */
export function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const range = { first: Number(match[1]), last: Number(match[2]) };
  return range.first >= 1 && range.first <= range.last && range.last <= 65535 ? range : undefined;
}

function addressToNumber(address: string, family: number): bigint {
  if (family === 4) return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const full = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = full.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}

/** Returns the canonical spelling of an address, so addresses can be compared as text: `0:0:0:0:0:0:0:1` -> `::1`. */
export function canonicalAddress(address: string): string {
  const family = isIP(address);
  if (family === 0) return address;
  return addressAt({ family: family === 4 ? 4 : 6, first: addressToNumber(address, family), prefix: 0 }, 0n);
}
