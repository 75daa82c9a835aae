import { isIP } from 'node:net';

/** An IP address as a number. */
export interface ParsedAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

const mappedPrefix = 0xffffn;

/**
 * Parses an IP address. Undefined for other strings, for zones (`fe80::1%eth0`) and for IPv4 addresses written as IPv6:
 * those would be two spellings of one address, which rules would treat as two addresses.
 */
export function parseAddress(text: string): ParsedAddress | undefined {
  if (text.length > 64 || text.includes('%')) return undefined;
  const family = isIP(text);
  if (family === 4) return { family: 4, value: dotted(text) };
  if (family !== 6) return undefined;
  const value = hextets(text);
  return value >> 32n === mappedPrefix ? undefined : { family: 6, value };
}

function dotted(text: string): bigint {
  return text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function hextets(text: string): bigint {
  let own = text;
  const lastColon = own.lastIndexOf(':');
  const tail = own.slice(lastColon + 1);
  if (tail.includes('.')) {
    const value = dotted(tail);
    own = `${own.slice(0, lastColon + 1)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  }
  const [head = '', rest] = own.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = rest === undefined || rest === '' ? [] : rest.split(':');
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return all.reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}

/** The canonical text: lower case, with the longest run of zeros left out. */
export function addressText({ family, value }: ParsedAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const parts = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - 16 * i)) & 0xffffn));
  let bestStart = -1;
  let bestLength = 1;
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && parts[start + length] === 0) length++;
    if (length > bestLength) {
      bestStart = start;
      bestLength = length;
    }
  }
  const hex = parts.map((part) => part.toString(16));
  if (bestStart < 0) return hex.join(':');
  return `${hex.slice(0, bestStart).join(':')}::${hex.slice(bestStart + bestLength).join(':')}`;
}
