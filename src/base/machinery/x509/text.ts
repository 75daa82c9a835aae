import { type Asn1, bytesOf, isUniversal, tags } from './asn1.js';
import { Asn1Error } from './asn1-error.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The characters of the ASCII-based types (X.680, 41). */
const asciiTypes: ReadonlyMap<number, RegExp> = new Map([
  [tags.numericString, /^[0-9 ]*$/],
  // Two more characters than in the standard: authorities use them, and all readers interpret them alike.
  [tags.printableString, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/],
  [tags.ia5String, /^\p{ASCII}*$/u],
  // Readers interpret bytes above 127 differently: as T.61, Latin-1 or UTF-8.
  [tags.teletexString, /^[ -~]*$/],
]);

/**
 * The text of a name (RFC 5280, 4.1.2.4), of any string type. All parts of this program read names with it. It succeeds
 * only if other programs would read the same text: no NUL, where some readers stop, no surrogates, and no bytes outside
 * the type. A VisibleString is refused, as TLS libraries refuse it.
 *
 * @throws Asn1Error for other text.
 */
export function textOf(node: Asn1 | undefined): string {
  const text = decode(node);
  if (text === undefined || text.includes('\u0000'))
    throw new Asn1Error('asn1: structure error: a text that can be read in more than one way');
  return text;
}

/** Text of an IA5String under its own tag, as in a subjectAltName. @throws Asn1Error when it is invalid. */
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

/** Characters of fixed size. Surrogates are refused, alone or in pairs: these types are older than surrogate pairs. */
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
