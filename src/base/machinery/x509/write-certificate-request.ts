import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bitString, constructed, decodeDer, encodeDer, oid, primitive, sequence, set, tags } from './asn1.js';
import type { AlternativeNames } from './certificate-request.js';
import { writeName } from './distinguished-name.js';
import { generalNames } from './general-names.js';
import { encodePem } from './pem.js';
import { signatureMethod } from './signature-method.js';

const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAltName = '2.5.29.17';

/**
 * Creates a PKCS#10 request (RFC 2986) in PEM for an identity, signed with its key: RSA, ECDSA P-256/384/521 or Ed25519.
 *
 * @param identity an empty name is left out
 * @param names additional names of the holder, as servers need them
 */
export function writeCertificateRequest(
  identity: { readonly commonName: string; readonly organizations: readonly string[] },
  key: KeyObject,
  names?: AlternativeNames,
): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const content = sequence(
    primitive(tags.integer, Buffer.of(0)),
    decodeDer(writeName(identity)),
    decodeDer(publicKey),
    // The set of attributes must be present, even when it is empty.
    constructed(0, ...(names === undefined ? [] : [extensionsAttribute(names)])),
  );
  const method = signatureMethod(key);
  if (method === undefined) throw new TypeError('a key of this type signs no requests');
  const signature = sign(method.hash, encodeDer(content), key);
  const request = sequence(content, method.algorithm, bitString(signature));
  return encodePem('CERTIFICATE REQUEST', encodeDer(request));
}

function extensionsAttribute(names: AlternativeNames) {
  const value = primitive(tags.octetString, encodeDer(sequence(...generalNames(names))));
  return sequence(oid(extensionRequest), set(sequence(sequence(oid(subjectAltName), value))));
}
