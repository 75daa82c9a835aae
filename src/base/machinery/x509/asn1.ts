import { createRequire } from 'node:module';
import type forge from 'node-forge';
import { Asn1Error } from './asn1-error.js';

/** A node of an ASN.1 tree. `value` holds the content bytes as a binary string, or the children. */
export type Asn1 = forge.asn1.Asn1;

/** The library's types lack the options of its reader. */
interface Asn1Library extends Omit<typeof forge.asn1, 'fromDer'> {
  fromDer(
    bytes: string,
    options: { readonly strict: boolean; readonly parseAllBytes: boolean; readonly decodeBitStrings: boolean },
  ): Asn1;
}

const require = createRequire(import.meta.url);
let library: Asn1Library | undefined;

/** Few processes ever see a certificate request, so the library is loaded with the first one. */
function asn1(): Asn1Library {
  library ??= require('node-forge/lib/asn1') as Asn1Library;
  return library;
}

const sequenceByte = 0x30;
const contextClass = 0x80;
/** Stands for a tag number that does not fit into the first byte. */
const longTag = 31;

/** The universal tags (X.690, 8.4) that certificates use. */
export const tags = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  oid: 6,
  utf8String: 12,
  sequence: 16,
  set: 17,
  numericString: 18,
  printableString: 19,
  teletexString: 20,
  ia5String: 22,
  utcTime: 23,
  generalizedTime: 24,
  universalString: 28,
  bmpString: 30,
} as const;

/**
 * Reads a DER sequence that fills all the bytes. The library accepts lengths and integers in longer forms than
 * necessary, and indefinite lengths. Two readers may interpret such bytes differently. So bytes are accepted only if
 * writing the tree again yields exactly the same bytes.
 *
 * @throws Asn1Error for other bytes.
 */
export function decodeDer(der: Buffer): Asn1 {
  if (der[0] !== sequenceByte) throw new Asn1Error('asn1: structure error: not a sequence');
  const node = read(der);
  if (!encodeDer(node).equals(der)) throw new Asn1Error('asn1: structure error: not the one form that DER has');
  checkContents(node);
  return node;
}

function read(der: Buffer): Asn1 {
  try {
    return asn1().fromDer(der.toString('latin1'), { strict: true, parseAllBytes: true, decodeBitStrings: false });
  } catch (error) {
    const isTrailing = error instanceof Error && error.message.startsWith('Unparsed DER bytes');
    throw new Asn1Error(isTrailing ? 'asn1: syntax error: trailing data' : 'asn1: structure error: no DER');
  }
}

/** Checks what rewriting the tree does not reveal: tags of more than one byte, and booleans. */
function checkContents(node: Asn1): void {
  const { type } = node as { readonly type: number };
  if (type === longTag) throw new Asn1Error('asn1: structure error: a tag of more than one byte');
  if (Array.isArray(node.value)) node.value.forEach(checkContents);
  else if (isUniversal(node, tags.boolean) && node.value !== '\u0000' && node.value !== '\u00ff') {
    throw new Asn1Error('asn1: structure error: a boolean that is neither true nor false');
  }
}

/** The DER form of a tree. For a tree from {@link decodeDer}, these are the original bytes. */
export function encodeDer(node: Asn1): Buffer {
  return Buffer.from(asn1().toDer(node).getBytes(), 'latin1');
}

/** Whether a node has a universal tag. The number alone is ambiguous: other classes count from 0 as well. */
export function isUniversal(node: Asn1 | undefined, tag: number): boolean {
  return (node?.tagClass as number | undefined) === 0 && (node?.type as number) === tag;
}

/** Whether a node has the tag `[tag]`. */
export function isContext(node: Asn1 | undefined, tag: number): boolean {
  return (node?.tagClass as number | undefined) === contextClass && (node?.type as number) === tag;
}

/** The children of a constructed node. @throws Asn1Error when there are fewer than `atLeast`. */
export function childrenOf(node: Asn1 | undefined, atLeast = 0): Asn1[] {
  if (node === undefined || !Array.isArray(node.value) || node.value.length < atLeast) {
    throw new Asn1Error('asn1: structure error: parts are missing');
  }
  return node.value;
}

/** The members of a sequence. @throws Asn1Error for other nodes, or for fewer members than `atLeast`. */
export function sequenceOf(node: Asn1 | undefined, atLeast = 0): Asn1[] {
  if (!isUniversal(node, tags.sequence)) throw new Asn1Error('asn1: structure error: not a sequence');
  return childrenOf(node, atLeast);
}

/** The members of a set. @throws Asn1Error for other nodes, or for fewer members than `atLeast`. */
export function setOf(node: Asn1 | undefined, atLeast = 0): Asn1[] {
  if (!isUniversal(node, tags.set)) throw new Asn1Error('asn1: structure error: not a set');
  return childrenOf(node, atLeast);
}

/** The content of a primitive node. @throws Asn1Error for a constructed one. */
export function bytesOf(node: Asn1 | undefined): Buffer {
  if (node === undefined || typeof node.value !== 'string') {
    throw new Asn1Error('asn1: structure error: a value is missing');
  }
  // The library reads this tag number, of any class, as 16-bit units.
  if ((node.type as number) === tags.bmpString) return Buffer.from(node.value, 'utf16le').swap16();
  return Buffer.from(node.value, 'latin1');
}

/** The content of a primitive node with a universal tag. @throws Asn1Error for other nodes. */
export function contentOf(node: Asn1 | undefined, tag: number): Buffer {
  if (!isUniversal(node, tag)) throw new Asn1Error('asn1: structure error: a value of another type');
  return bytesOf(node);
}

/** An object identifier in dotted form. @throws Asn1Error when it is empty, truncated or padded. */
export function oidOf(node: Asn1 | undefined): string {
  const bytes = contentOf(node, tags.oid);
  const isWhole = bytes.length > 0 && ((bytes.at(-1) as number) & 0x80) === 0;
  const isPadded = bytes.some((byte, i) => byte === 0x80 && (i === 0 || ((bytes[i - 1] as number) & 0x80) === 0));
  if (!isWhole || isPadded) throw new Asn1Error('asn1: structure error: a malformed object identifier');
  try {
    return asn1().derToOid(bytes.toString('latin1'));
  } catch (error) {
    throw new Asn1Error('asn1: structure error: a malformed object identifier', { cause: error });
  }
}

/** The content of a bit string of whole bytes. @throws Asn1Error for other nodes. */
export function wholeBytesOf(node: Asn1 | undefined): Buffer {
  const bytes = contentOf(node, tags.bitString);
  if (bytes[0] !== 0) throw new Asn1Error('asn1: structure error: a bit string that does not end with a byte');
  return bytes.subarray(1);
}

/** A primitive node of a universal type. */
export function primitive(tag: number, content: Buffer): Asn1 {
  return create(0, tag, false, content.toString('latin1'));
}

export function sequence(...children: readonly Asn1[]): Asn1 {
  return create(0, tags.sequence, true, [...children]);
}

/** A set with one member: several members would need sorting. */
export function set(member: Asn1): Asn1 {
  return create(0, tags.set, true, [member]);
}

/** `[tag] EXPLICIT`. */
export function explicit(tag: number, child: Asn1): Asn1 {
  return create(contextClass, tag, true, [child]);
}

/** `[tag] IMPLICIT` of a set or sequence. */
export function constructed(tag: number, ...children: readonly Asn1[]): Asn1 {
  return create(contextClass, tag, true, [...children]);
}

/** `[tag] IMPLICIT` of a primitive type. */
export function implicit(tag: number, content: Buffer): Asn1 {
  return create(contextClass, tag, false, content.toString('latin1'));
}

export function oid(dotted: string): Asn1 {
  return primitive(tags.oid, Buffer.from(asn1().oidToDer(dotted).getBytes(), 'latin1'));
}

/** A bit string of whole bytes. */
export function bitString(bytes: Buffer): Asn1 {
  return primitive(tags.bitString, Buffer.concat([Buffer.of(0), bytes]));
}

/** A bit string of named bits: trailing zero bits are left out (X.690, 11.2.2). */
export function namedBits(positions: readonly number[]): Asn1 {
  const last = Math.max(...positions);
  const bytes = Buffer.alloc(1 + Math.floor(last / 8) + 1);
  bytes[0] = 7 - (last % 8);
  for (const position of positions) {
    const index = 1 + Math.floor(position / 8);
    bytes[index] = (bytes[index] as number) | (0x80 >> (position % 8));
  }
  return primitive(tags.bitString, bytes);
}

/** A certificate's time in whole seconds: UTCTime up to 2049, GeneralizedTime later (RFC 5280, 4.1.2.5). */
export function certificateTime(milliseconds: number): Asn1 {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '');
  const isShort = Number(digits.slice(0, 4)) < 2050;
  const text = `${isShort ? digits.slice(2) : digits}Z`;
  return primitive(isShort ? tags.utcTime : tags.generalizedTime, Buffer.from(text, 'latin1'));
}

function create(tagClass: number, tag: number, constructed: boolean, value: string | Asn1[]): Asn1 {
  return asn1().create(tagClass as forge.asn1.Class, tag as forge.asn1.Type, constructed, value);
}
