import { isIPv4 } from 'node:net';
import { type Asn1, implicit } from './asn1.js';
import type { AlternativeNames } from './certificate-request.js';

/** The names of a subjectAltName extension (RFC 5280, 4.2.1.6). */
export function generalNames({ dnsNames, emailAddresses, ipAddresses, uris }: AlternativeNames): Asn1[] {
  const text = (tag: number) => (value: string) => implicit(tag, Buffer.from(value, 'latin1'));
  return [
    ...dnsNames.map(text(2)),
    ...emailAddresses.map(text(1)),
    ...ipAddresses.map((address) => implicit(7, addressBytes(address))),
    ...uris.map(text(6)),
  ];
}

/** @param address IPv6 with hexadecimal groups only, with or without `::`. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [front = [], back = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  const groups = [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
