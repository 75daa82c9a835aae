import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../../machinery/clock.js';
import type { ServiceAccountTokenIssuer, ServiceAccountTokenRequest } from '../../machinery/tokens.js';
import type { VendorNames } from '../../machinery/vendor.js';
import { encodeAccountClaims } from './claims.js';
import { KeyFileError, readPem, type VerificationKey, verificationKey } from './verification-keys.js';

/** What agents ask for when they mount a token into a pod (specification 5.3). */
const mountedSeconds = 3607;
const extendedSeconds = 365 * 24 * 60 * 60;

/** The key that new tokens are signed with. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly verification: VerificationKey;
}

/** Reads the private key of a PEM file; throws `KeyFileError` when there is none of a usable kind. */
export function readSigningKey(path: string): SigningKey {
  const pem = readPem(path);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The cause could quote the key.
    throw new KeyFileError(`${path} has no private key in PEM`);
  }
  return { key, verification: verificationKey(createPublicKey(key), path) };
}

/** How tokens are issued. */
export interface TokenIssuerSettings {
  /** Called for every token: the key may change. */
  readonly signingKey: () => SigningKey;
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Tokens mounted into pods live for a year and say from when on that is longer than asked for. */
  readonly extendExpiration: boolean;
  /** Undefined: any time that a request may ask for. */
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

  /** `expiresAt` is what was asked for, even of a token that lives longer: clients renew it by that. */
  async issue(request: ServiceAccountTokenRequest): Promise<{ readonly token: string; readonly expiresAt: Date }> {
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
      jti: randomUUID(),
      [names.tokenClaim]: encodeAccountClaims(namespace, { name, uid }, bound, node, warnAfter),
      nbf: now,
      sub: accountUserName(namespace, name),
    })
      .setProtectedHeader({ alg: verification.algorithm, kid: verification.id })
      .sign(key);
    return { token, expiresAt: new Date((now + expirationSeconds) * 1000) };
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
