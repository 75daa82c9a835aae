import { type Asn1, contentOf, isUniversal, oidOf, sequenceOf, tags } from './asn1.js';
import { Asn1Error } from './asn1-error.js';

/**
 * The values of a list of extensions (RFC 5280, 4.1.2.9) by object identifier.
 *
 * @throws Asn1Error when an extension is repeated: programs differ in which one they use.
 */
export function readExtensions(list: Asn1 | undefined): ReadonlyMap<string, Buffer> {
  const values = new Map<string, Buffer>();
  for (const extension of sequenceOf(list)) {
    const [type, ...rest] = sequenceOf(extension, 2);
    // The critical flag may come between the identifier and the value.
    const [value, ...more] = isUniversal(rest[0], tags.boolean) ? rest.slice(1) : rest;
    const oid = oidOf(type);
    if (more.length > 0) throw new Asn1Error('asn1: structure error: an extension with more than one value');
    if (values.has(oid)) throw new Asn1Error(`x509: the extension ${oid} is given more than once`);
    values.set(oid, contentOf(value, tags.octetString));
  }
  return values;
}
