import { toType } from 'dns-packet/types.js';

/** Numbers of the types of records that this server knows. */
export const recordTypes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
} as const;
export type RecordType = keyof typeof recordTypes;

/** The number of a type by the name that the library gives it. */
export function typeNumber(name: string): number {
  return recordTypes[name as RecordType] ?? toType(name);
}

/** The types that metrics name; all others are `other`. */
const namedTypes: ReadonlyMap<number, string> = new Map([
  ...Object.entries(recordTypes).map(([name, number]): [number, string] => [number, name]),
  ...([
    [15, 'MX'],
    [35, 'NAPTR'],
    [43, 'DS'],
    [46, 'RRSIG'],
    [47, 'NSEC'],
    [48, 'DNSKEY'],
    [64, 'SVCB'],
    [65, 'HTTPS'],
    [252, 'AXFR'],
    [251, 'IXFR'],
    [255, 'ANY'],
  ] as const),
]);

export function typeName(type: number): string {
  return namedTypes.get(type) ?? 'other';
}

export const internetClass = 1;
export const optType = 41;

export const responseCodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;
export type ResponseCode = keyof typeof responseCodes;

const codeNames: ReadonlyMap<number, string> = new Map(
  Object.entries(responseCodes).map(([name, number]) => [number, name]),
);

export function codeName(code: number): string {
  return codeNames.get(code) ?? String(code);
}
