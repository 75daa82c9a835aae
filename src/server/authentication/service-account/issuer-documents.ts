import type { VerificationKey } from './verification-keys.js';
import { toJwk } from './verification-keys.js';

/** The documents with which other parties verify service account tokens themselves (OpenID Connect Discovery 1.0). */
export interface IssuerDocuments {
  /** JSON of `/.well-known/openid-configuration`. */
  readonly configuration: string;
  /** JSON of `/openid/v1/jwks` (RFC 7517). */
  readonly keySet: string;
}

/** The documents of an issuer; undefined when the issuer is not an HTTPS address, since discovery needs one. */
export function issuerDocuments(
  issuer: string,
  keySetUrl: string,
  keys: readonly VerificationKey[],
): IssuerDocuments | undefined {
  if (!issuer.startsWith('https://') || keys.length === 0) return undefined;
  return Object.freeze({
    configuration: JSON.stringify({
      issuer,
      jwks_uri: keySetUrl,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
    }),
    keySet: JSON.stringify({ keys: keys.map(toJwk) }),
  });
}
