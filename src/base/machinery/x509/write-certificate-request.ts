import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bitString, constructed, decodeDer, encodeDer, oid, primitive, sequence, tags } from './asn1.js';
import { writeName } from './distinguished-name.js';
import { encodePem } from './pem.js';

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

/** Makes a PKCS#10 request (RFC 2986) in PEM for an identity, signed with its ECDSA P-256 key. */
export function writeCertificateRequest(
  identity: { readonly commonName: string; readonly organizations: readonly string[] },
  key: KeyObject,
): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const content = sequence(
    primitive(tags.integer, Buffer.of(0)),
    decodeDer(writeName(identity)),
    decodeDer(publicKey),
    // The set of attributes must be present, even when it is empty.
    constructed(0),
  );
  const signature = sign('sha256', encodeDer(content), key);
  const request = sequence(content, sequence(oid(ecdsaWithSha256)), bitString(signature));
  return encodePem('CERTIFICATE REQUEST', encodeDer(request));
}
