import { SignJWT } from 'jose';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { accountUserName, type SigningKey } from './token-issuer.js';

/** The claims of a token that is kept in a secret. */
export interface SecretTokenClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly accountName: string;
  readonly accountUid: string;
}

/**
 * Signs a token for a secret of the service account. The token has no expiry and no audience, and becomes invalid with
 * its secret (specification 5.3).
 */
export function signSecretToken(claims: SecretTokenClaims, key: SigningKey, names: VendorNames): Promise<string> {
  const prefix = claimPrefix(names);
  return new SignJWT({
    iss: names.secretTokenIssuer,
    [`${prefix}/namespace`]: claims.namespace,
    [`${prefix}/secret.name`]: claims.secretName,
    [`${prefix}/service-account.name`]: claims.accountName,
    [`${prefix}/service-account.uid`]: claims.accountUid,
    sub: accountUserName(claims.namespace, claims.accountName),
  })
    .setProtectedHeader({ alg: key.verification.algorithm, kid: key.verification.id })
    .sign(key.key);
}

/**
 * Decodes the claims of a token in a secret; undefined when one is missing. The signature must have been checked
 * before.
 */
export function decodeSecretToken(
  payload: Readonly<Record<string, unknown>>,
  names: VendorNames,
): SecretTokenClaims | undefined {
  const prefix = claimPrefix(names);
  const text = (name: string): string => {
    const value = payload[`${prefix}/${name}`];
    return typeof value === 'string' ? value : '';
  };
  const claims = {
    namespace: text('namespace'),
    secretName: text('secret.name'),
    accountName: text('service-account.name'),
    accountUid: text('service-account.uid'),
  };
  return Object.values(claims).every((value) => value !== '') ? claims : undefined;
}

function claimPrefix(names: VendorNames): string {
  return `${names.tokenClaim}/serviceaccount`;
}
