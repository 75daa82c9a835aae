import { parseTime } from './values/time.js';
import { ValueFormatError } from './values/value-format-error.js';
import type { VendorNames } from './vendor.js';

/** The keys of a bootstrap token secret (specification 2.8). */
export const bootstrapTokenKeys = {
  id: 'token-id',
  secret: 'token-secret',
  description: 'description',
  expiration: 'expiration',
  usageAuthentication: 'usage-bootstrap-authentication',
  usageSigning: 'usage-bootstrap-signing',
  extraGroups: 'auth-extra-groups',
} as const;

/** The name of a token's secret is this prefix followed by the token's id. */
export const bootstrapTokenSecretPrefix = 'bootstrap-token-';

const idPattern = /^[a-z0-9]{6}$/;
const secretPattern = /^[a-z0-9]{16}$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export function isTokenId(text: string): boolean {
  return idPattern.test(text);
}

export function isTokenSecret(text: string): boolean {
  return secretPattern.test(text);
}

/** Whether a group is allowed in `auth-extra-groups`. */
export function isBootstrapGroup(text: string): boolean {
  return groupPattern.test(text);
}

/** When a token expires, in milliseconds since 1970; undefined for a string that is not a time. */
export function expirationTime(text: string): number | undefined {
  try {
    return parseTime(text);
  } catch (error) {
    if (error instanceof ValueFormatError) return undefined;
    throw error;
  }
}

/** The parts of a secret that a token needs. `data` is in base64. */
export interface TokenSecret {
  readonly metadata: { readonly name?: string; readonly deletionTimestamp?: unknown };
  readonly type?: string | undefined;
  readonly data?: Readonly<Record<string, string | null>> | undefined;
}

/** A well-formed token, possibly expired. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** When the token expires, in milliseconds since 1970; infinite if it never does. */
  readonly expiresAt: number;
  readonly maySign: boolean;
}

/** One value of a secret as a string; undefined if it is missing. */
export function secretText({ data }: TokenSecret, key: string): string | undefined {
  const value = data !== undefined && Object.hasOwn(data, key) ? data[key] : undefined;
  return value === undefined || value === null ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/**
 * The token in a secret of the system namespace. Undefined when the secret has another type or another token's name, or
 * is not well formed. A token with an unreadable expiration counts as expired.
 */
export function readBootstrapToken(secret: TokenSecret, names: VendorNames): BootstrapToken | undefined {
  if (secret.type !== names.bootstrapTokenSecretType) return undefined;
  const id = secretText(secret, bootstrapTokenKeys.id) ?? '';
  const tokenSecret = secretText(secret, bootstrapTokenKeys.secret) ?? '';
  const isNamed = secret.metadata.name === `${bootstrapTokenSecretPrefix}${id}`;
  if (!isTokenId(id) || !isTokenSecret(tokenSecret) || !isNamed) return undefined;
  return {
    id,
    secret: tokenSecret,
    expiresAt: tokenExpiration(secret),
    maySign: secretText(secret, bootstrapTokenKeys.usageSigning) === 'true',
  };
}

/** When a token secret expires: never if it has no expiration, and at the epoch if the expiration is unreadable. */
export function tokenExpiration(secret: TokenSecret): number {
  const text = secretText(secret, bootstrapTokenKeys.expiration) ?? '';
  return text === '' ? Number.POSITIVE_INFINITY : (expirationTime(text) ?? Number.NEGATIVE_INFINITY);
}
