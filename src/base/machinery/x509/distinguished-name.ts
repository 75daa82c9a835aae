import { type Asn1, encodeDer, oid, oidOf, primitive, sequence, sequenceOf, set, setOf, tags } from './asn1.js';
import { Asn1Error } from './asn1-error.js';
import { textOf } from './text.js';

const oids = { commonName: '2.5.4.3', organization: '2.5.4.10' };

/** The identity in the subject of a certificate, in the order of the name. */
export interface SubjectNames {
  /** With several common names the identity is ambiguous; the caller must refuse them. */
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
}

/**
 * Reads a name, whether its attributes share one RDN or have one each.
 *
 * @throws Asn1Error when any attribute, of any type, is not text that all readers interpret alike.
 */
export function readName(name: Asn1 | undefined): SubjectNames {
  const commonNames: string[] = [];
  const organizations: string[] = [];
  for (const part of sequenceOf(name)) {
    for (const pair of setOf(part, 1)) {
      const [type, value, ...more] = sequenceOf(pair, 2);
      if (more.length > 0) throw new Asn1Error('asn1: structure error: an attribute with more than one value');
      const oid = oidOf(type);
      const text = textOf(value);
      if (oid === oids.commonName) commonNames.push(text);
      else if (oid === oids.organization) organizations.push(text);
    }
  }
  return { commonNames, organizations };
}

/** A name in DER: organizations first, then the common name. */
export function writeName({
  commonName,
  organizations = [],
}: {
  commonName: string;
  organizations?: readonly string[];
}): Buffer {
  const part = (type: string, text: string) =>
    set(sequence(oid(type), primitive(tags.utf8String, Buffer.from(text, 'utf8'))));
  const groups = organizations.map((text) => part(oids.organization, text));
  return encodeDer(sequence(...groups, ...(commonName === '' ? [] : [part(oids.commonName, commonName)])));
}
