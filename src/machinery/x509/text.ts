import { type Asn1, Asn1Error, bytesOf, isUniversal, tags } from './asn1.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Characters of the types that are a part of ASCII (X.680, 41). */
const asciiTypes: ReadonlyMap<number, RegExp> = new Map([
  [tags.numericString, /^[0-9 ]*$/],
  // Two more than the standard has: authorities use them, and everybody reads them alike.
  [tags.printableString, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/],
  [tags.ia5String, /^\p{ASCII}*$/u],
  // What readers make of the other half differs: T.61, Latin-1 or UTF-8.
  [tags.teletexString, /^[ -~]*$/],
]);

/**
 * The text of a name (RFC 5280, 4.1.2.4), whatever type its author chose. Everybody in this program reads names with it,
 * and it answers only when all who check certificates elsewhere read the same: no NUL, where some readers stop, no
 * surrogates, and no bytes that the type does not have. A VisibleString is none of the types: TLS libraries refuse it.
 *
 * @throws Asn1Error for anything else.
 */
export function textOf(node: Asn1 | undefined): string {
  const text = decode(node);
  if (text === undefined || text.includes('\u0000'))
    throw new Asn1Error('asn1: structure error: a text that can be read in more than one way');
  return text;
}

/** Text of an IA5String under a tag of its own, as in a subjectAltName. @throws Asn1Error when it is none. */
export function ia5TextOf(node: Asn1 | undefined): string {
  const text = ascii(bytesOf(node), tags.ia5String);
  if (text === undefined || text.includes('\u0000'))
    throw new Asn1Error('asn1: structure error: a name that is not ASCII');
  return text;
}

function decode(node: Asn1 | undefined): string | undefined {
  const bytes = bytesOf(node);
  if (isUniversal(node, tags.utf8String)) return utf8Text(bytes);
  if (isUniversal(node, tags.bmpString)) return units(bytes, 2);
  if (isUniversal(node, tags.universalString)) return units(bytes, 4);
  for (const tag of asciiTypes.keys()) if (isUniversal(node, tag)) return ascii(bytes, tag);
  return undefined;
}

function ascii(bytes: Buffer, tag: number): string | undefined {
  const text = bytes.toString('latin1');
  return asciiTypes.get(tag)?.test(text) === true ? text : undefined;
}

function utf8Text(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Characters of a fixed size. Half of a pair is none, and neither is a pair: these types are older than pairs. */
function units(bytes: Buffer, size: 2 | 4): string | undefined {
  if (bytes.length % size !== 0) return undefined;
  let text = '';
  for (let i = 0; i < bytes.length; i += size) {
    const point = bytes.readUIntBE(i, size);
    if (point > 0x10_ff_ff || (point >= 0xd8_00 && point <= 0xdf_ff)) return undefined;
    text += String.fromCodePoint(point);
  }
  return text;
}
