import type { KeyObject } from 'node:crypto';
import { type Asn1, oid, primitive, sequence, tags } from './asn1.js';

/** How a key signs certificates and requests for them. */
export interface SignatureMethod {
  /** AlgorithmIdentifier (RFC 5280, 4.1.1.2). */
  readonly algorithm: Asn1;
  /** Undefined if the algorithm includes its own hash. */
  readonly hash: string | undefined;
}

/** The method for a key; undefined for a key that is none of RSA, ECDSA P-256/384/521 and Ed25519. */
export function signatureMethod(key: KeyObject): SignatureMethod | undefined {
  const method = (id: string, hash?: string, ...parameters: readonly Asn1[]): SignatureMethod => ({
    algorithm: sequence(oid(id), ...parameters),
    hash,
  });
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return method('1.2.840.113549.1.1.11', 'sha256', primitive(tags.null, Buffer.alloc(0)));
    case 'ed25519':
      return method('1.3.101.112');
    case 'ec':
      // Use a hash that matches the strength of the curve.
      switch (key.asymmetricKeyDetails?.namedCurve) {
        case 'prime256v1':
          return method('1.2.840.10045.4.3.2', 'sha256');
        case 'secp384r1':
          return method('1.2.840.10045.4.3.3', 'sha384');
        case 'secp521r1':
          return method('1.2.840.10045.4.3.4', 'sha512');
      }
  }
  return undefined;
}
