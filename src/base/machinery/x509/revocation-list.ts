import { type KeyObject, verify } from 'node:crypto';
import type { Steps } from '../turns.js';
import { Asn1Error } from './asn1-error.js';
import { DerCursor, type DerValue } from './der-cursor.js';

const sequence = 0x30;
const integer = 0x02;
const bitString = 0x03;
const octetString = 0x04;
const oid = 0x06;
const boolean = 0x01;
const utcTime = 0x17;
const generalizedTime = 0x18;
const extensions = 0xa0;

/** Signatures that are accepted, by the bytes of their object identifier: the kind of key and the hash. SHA-1 is not. */
const algorithms: ReadonlyMap<string, { readonly keys: readonly string[]; readonly hash: string | null }> = new Map([
  ['2a864886f70d01010b', { keys: ['rsa'], hash: 'sha256' }],
  ['2a864886f70d01010c', { keys: ['rsa'], hash: 'sha384' }],
  ['2a864886f70d01010d', { keys: ['rsa'], hash: 'sha512' }],
  ['2a8648ce3d040302', { keys: ['ec'], hash: 'sha256' }],
  ['2a8648ce3d040303', { keys: ['ec'], hash: 'sha384' }],
  ['2a8648ce3d040304', { keys: ['ec'], hash: 'sha512' }],
  ['2b6570', { keys: ['ed25519'], hash: null }],
  ['2b6571', { keys: ['ed448'], hash: null }],
]);

/**
 * Extensions of a list that do not change its meaning if it is complete: authority key, alternative name, number,
 * freshest list, access.
 */
const harmless: ReadonlySet<string> = new Set(['551d23', '551d12', '551d14', '551d2e', '2b06010505070101']);

/** A certificate revocation list (RFC 5280, 5.1), read but not verified. Times are milliseconds since the epoch. */
export interface RevocationList {
  /** The issuer's name in DER. */
  readonly issuer: Buffer;
  readonly thisUpdate: number;
  /** The latest time at which a newer list will be published; undefined when the list gives none. */
  readonly nextUpdate: number | undefined;
  /** Serial numbers in lower-case hex, without leading zeros. */
  readonly serials: ReadonlySet<string>;
  /** Whether the list was signed with this key. */
  isSignedBy(key: KeyObject): boolean;
}

/** Entries of a list that are read in one step. */
const entriesOfStep = 256;

/**
 * Reads a list in DER, in many steps if it is long. Lists that do not cover all certificates of their issuer (deltas,
 * indirect lists, parts) are refused: treating one as complete would let revoked certificates in.
 *
 * @throws Asn1Error for other bytes, and for lists in a form that is not supported.
 */
export function* readRevocationList(der: Buffer): Steps<RevocationList> {
  const outer = new DerCursor(der);
  const list = outer.next(sequence);
  outer.done();
  const parts = outer.inside(list);
  const signed = parts.next(sequence);
  const algorithm = parts.next(sequence);
  const signature = parts.contentOf(parts.next(bitString));
  parts.done();
  if (signature[0] !== 0) throw new Asn1Error('asn1: structure error: no signature');
  const fields = parts.inside(signed);
  const hasVersion = fields.nextIf(integer) !== undefined;
  const innerAlgorithm = fields.next(sequence);
  if (!parts.wholeOf(algorithm).equals(fields.wholeOf(innerAlgorithm))) {
    throw new Asn1Error('the list names two algorithms of its signature');
  }
  const issuer = Buffer.from(fields.wholeOf(fields.next(sequence)));
  const thisUpdate = timeOf(fields, fields.next());
  const hasNext = fields.nextTag === utcTime || fields.nextTag === generalizedTime;
  const nextUpdate = hasNext ? timeOf(fields, fields.next()) : undefined;
  const entries = fields.nextIf(sequence);
  const serials = entries === undefined ? new Set<string>() : yield* readEntries(fields.inside(entries));
  const own = fields.nextIf(extensions);
  if (own !== undefined && hasVersion) checkExtensions(fields.inside(own));
  else if (own !== undefined) throw new Asn1Error('asn1: structure error: extensions in the first version');
  fields.done();
  const scheme = algorithms.get(parts.contentOf(parts.inside(algorithm).next(oid)).toString('hex'));
  if (scheme === undefined) throw new Asn1Error('the list is signed with an algorithm that is not accepted');
  const body = parts.wholeOf(signed);
  return {
    issuer,
    thisUpdate,
    nextUpdate,
    serials,
    isSignedBy: (key) =>
      scheme.keys.includes(key.asymmetricKeyType ?? '') && verify(scheme.hash, body, key, signature.subarray(1)),
  };
}

/** The form in which serial numbers are compared, from hex of any case with leading zeros. */
export function serialText(hex: string): string {
  return hex.toLowerCase().replace(/^0+(?=.)/, '');
}

function* readEntries(cursor: DerCursor): Steps<Set<string>> {
  const serials = new Set<string>();
  while (!cursor.isAtEnd) {
    const entry = cursor.inside(cursor.next(sequence));
    serials.add(serialText(entry.contentOf(entry.next(integer)).toString('hex')));
    timeOf(entry, entry.next());
    const own = entry.nextIf(sequence);
    if (own !== undefined) {
      // The only critical extension names another issuer: the list is an indirect one.
      for (const { isCritical } of readExtensionList(entry.inside(own))) {
        if (isCritical) throw new Asn1Error('the list has entries with critical extensions');
      }
    }
    entry.done();
    if (serials.size % entriesOfStep === 0) yield;
  }
  return serials;
}

function checkExtensions(cursor: DerCursor): void {
  const all = cursor.next(sequence);
  cursor.done();
  for (const { id, isCritical } of readExtensionList(cursor.inside(all))) {
    if (id === '551d1b') throw new Asn1Error('the list is a delta, not a whole list');
    if (id === '551d1c') throw new Asn1Error('the list is about a part of the certificates only');
    if (isCritical && !harmless.has(id)) throw new Asn1Error('the list has an unknown critical extension');
  }
}

function* readExtensionList(cursor: DerCursor): Generator<{ readonly id: string; readonly isCritical: boolean }> {
  while (!cursor.isAtEnd) {
    const extension = cursor.inside(cursor.next(sequence));
    const id = extension.contentOf(extension.next(oid)).toString('hex');
    const flag = extension.nextIf(boolean);
    const isCritical = flag !== undefined && extension.contentOf(flag)[0] !== 0;
    extension.next(octetString);
    extension.done();
    yield { id, isCritical };
  }
}

/** `YYMMDDHHMMSSZ` of the years 1950 to 2049, or `YYYYMMDDHHMMSSZ`. */
function timeOf(cursor: DerCursor, value: DerValue): number {
  const text = cursor.contentOf(value).toString('latin1');
  const digits =
    value.tag === utcTime && /^\d{12}Z$/.test(text)
      ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text.slice(0, 12)}`
      : value.tag === generalizedTime && /^\d{14}Z$/.test(text)
        ? text.slice(0, 14)
        : undefined;
  const time =
    digits === undefined
      ? Number.NaN
      : Date.parse(digits.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(time)) throw new Asn1Error('asn1: structure error: no time');
  return time;
}
