import { type Asn1, childrenOf, decodeDer, isContext, sequenceOf } from './asn1.js';
import { Asn1Error } from './asn1-error.js';
import { readExtensions } from './extensions.js';

/** The parts of a certificate (RFC 5280, 4.1) that are read from its bytes. */
export interface CertificateParts {
  readonly subject: Asn1;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Asn1;
  /** By object identifier. */
  readonly extensions: ReadonlyMap<string, Buffer>;
}

/** Splits a certificate in DER. @throws Asn1Error when it is invalid or ambiguous. */
export function readCertificate(der: Buffer): CertificateParts {
  const fields = sequenceOf(sequenceOf(decodeDer(der), 3)[0], 6);
  // The version field is missing for version 1.
  const [, , , , subject, publicKey, ...optional] = isContext(fields[0], 0) ? fields.slice(1) : fields;
  if (subject === undefined || publicKey === undefined) throw new Asn1Error('asn1: structure error: parts are missing');
  const lists = optional.filter((field) => isContext(field, 3)).map((field) => childrenOf(field, 1));
  if (lists.length > 1) throw new Asn1Error('asn1: structure error: more than one list of extensions');
  const extensions = lists[0] === undefined ? new Map<string, Buffer>() : readExtensions(lists[0][0]);
  return { subject, publicKey, extensions };
}
