import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../../../base/machinery/clock.js';
import type {
  IssuedToken,
  ServiceAccountTokenIssuer,
  ServiceAccountTokenRequest,
} from '../../../base/machinery/tokens.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { encodeAccountClaims } from './claims.js';
import { KeyFileError } from './key-file-error.js';
import { readKeyPem, type VerificationKey, verificationKey } from './verification-keys.js';

/** The lifetime that node agents request for tokens mounted into pods (specification 5.3). */
const mountedSeconds = 3607;
const extendedSeconds = 365 * 24 * 60 * 60;

/** The key that signs new tokens. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly verification: VerificationKey;
}

/** Reads the private key of a PEM file. Throws `KeyFileError` when the file has no usable one. */
export function readSigningKey(path: string): SigningKey {
  const pem = readKeyPem(path);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The cause is omitted, since it could quote the key.
    throw new KeyFileError(`${path} has no private key in PEM`);
  }
  return { key, verification: verificationKey(createPublicKey(key), path) };
}

/** Settings for issuing tokens. */
export interface TokenIssuerSettings {
  /** Called for every token, since the key may change. */
  readonly signingKey: () => SigningKey;
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Whether tokens mounted into pods live for a year. Their claims contain the end of the requested lifetime. */
  readonly extendExpiration: boolean;
  /** Undefined if any lifetime may be requested. */
  readonly maxExpirationSeconds: number | undefined;
  readonly names: VendorNames;
  readonly clock: Clock;
}

/** Signs tokens for service accounts (RFC 7519). */
export class TokenIssuer implements ServiceAccountTokenIssuer {
  readonly audiences: readonly string[];
  readonly maxExpirationSeconds: number | undefined;

  constructor(private readonly settings: TokenIssuerSettings) {
    this.audiences = settings.audiences;
    this.maxExpirationSeconds = settings.maxExpirationSeconds;
  }

  /** `expiresAt` in the result is the requested end, even if the token lives longer: clients renew it by that time. */
  async issue(request: ServiceAccountTokenRequest): Promise<IssuedToken> {
    const id = randomUUID();
    const { issuer, names, clock } = this.settings;
    const { key, verification } = this.settings.signingKey();
    const { namespace, name, uid, bound, node, expirationSeconds } = request;
    const audiences = request.audiences.length === 0 ? this.audiences : request.audiences;
    const now = Math.floor(clock.now() / 1000);
    const lifetime = this.lifetimeOf(request, audiences);
    const warnAfter = lifetime > expirationSeconds ? now + expirationSeconds : undefined;
    const token = await new SignJWT({
      aud: [...audiences],
      exp: now + lifetime,
      iat: now,
      iss: issuer,
      jti: id,
      [names.tokenClaim]: encodeAccountClaims(namespace, { name, uid }, bound, node, warnAfter),
      nbf: now,
      sub: accountUserName(namespace, name),
    })
      .setProtectedHeader({ alg: verification.algorithm, kid: verification.id })
      .sign(key);
    return { token, id, expiresAt: new Date((now + expirationSeconds) * 1000) };
  }

  private lifetimeOf({ bound, expirationSeconds }: ServiceAccountTokenRequest, audiences: readonly string[]): number {
    const { extendExpiration, maxExpirationSeconds = extendedSeconds } = this.settings;
    const isMounted = bound?.kind === 'Pod' && expirationSeconds === mountedSeconds;
    const isOurs = audiences.every((audience) => this.audiences.includes(audience));
    if (!extendExpiration || !isMounted || !isOurs) return expirationSeconds;
    return Math.max(expirationSeconds, Math.min(extendedSeconds, maxExpirationSeconds));
  }
}

/** The user name of a service account (specification 5.2). */
export function accountUserName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}
