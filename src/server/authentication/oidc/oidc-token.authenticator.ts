import { decodeJwt } from 'jose';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import {
  ownAudiences,
  rejectedToken,
  type TokenAuthenticator,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';
import { ClaimError } from './claim-error.js';
import { ClaimSourceError } from './claim-source-error.js';
import { ClaimSources } from './claim-sources.js';
import { isForOneOf } from './is-for-one-of.js';
import type { ProviderDependencies } from './oidc-provider.js';
import { OidcProvider } from './oidc-provider.js';
import { SignatureError } from './signature-error.js';

/** How far the provider's clock may be ahead of the server's. */
export const notBeforeLeewaySeconds = 300;

/** What ID tokens must contain and how they map to users (specification 5.2). */
export interface OidcSettings {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Undefined for the issuer as prefix; `-` for no prefix. */
  readonly usernamePrefix: string | undefined;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  /** `key=value`. */
  readonly requiredClaims: readonly string[];
  readonly signingAlgorithms: readonly string[];
  /** The audiences of this server; every accepted ID token is valid for all of them. */
  readonly apiAudiences: readonly string[];
  /** Prefix of the extra fields that describe the credential. */
  readonly credentialPrefix: string;
}

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** ID tokens of an OpenID Connect provider (OpenID Connect Core 1.0 section 3.1.3.7). */
export class OidcTokenAuthenticator implements TokenAuthenticator {
  private readonly provider: OidcProvider;
  private readonly sources: ClaimSources;
  private readonly usernamePrefix: string;
  private readonly required: readonly (readonly [string, string])[];

  constructor(
    private readonly settings: OidcSettings,
    private readonly dependencies: ProviderDependencies,
  ) {
    const { issuerUrl, signingAlgorithms, clientId, usernameClaim, usernamePrefix } = settings;
    const providerOf = (issuer: string) => new OidcProvider(issuer, signingAlgorithms, dependencies);
    this.provider = providerOf(issuerUrl);
    const now = () => dependencies.clock.now();
    this.sources = new ClaimSources(this.provider, [clientId], dependencies.get, now, providerOf);
    const defaultPrefix = usernameClaim === 'email' ? '' : `${issuerUrl}#`;
    this.usernamePrefix = usernamePrefix === '-' ? '' : usernamePrefix || defaultPrefix;
    this.required = settings.requiredClaims.map((text) => {
      const equals = text.indexOf('=');
      return [text.slice(0, equals), text.slice(equals + 1)] as const;
    });
  }

  /** Finds the provider in the background. */
  start(signal: AbortSignal): void {
    this.provider.start(signal);
  }

  /** Resolves when all background work has ended after the signal is aborted. */
  stopped(): Promise<void> {
    return this.provider.stopped();
  }

  async authenticateToken(token: string, asked: readonly string[], signal: AbortSignal): Promise<TokenResult> {
    if (claimedIssuer(token) !== this.settings.issuerUrl) return unknownToken;
    const audiences = ownAudiences(asked, this.settings.apiAudiences);
    if (audiences === undefined) return unknownToken;
    try {
      const claims = await this.provider.verify(token);
      this.checkClaims(claims);
      const user = await this.userOf(claims, signal);
      return { kind: 'user', user, audiences, expiresAt: (claims.exp as number) * 1000 };
    } catch (error) {
      const isAboutToken =
        error instanceof SignatureError || error instanceof ClaimError || error instanceof ClaimSourceError;
      if (isAboutToken) return rejectedToken(`oidc: ${error.message}`);
      throw error;
    }
  }

  private checkClaims({ iss, aud, exp, nbf }: Claims): void {
    const { issuerUrl, clientId } = this.settings;
    const now = this.dependencies.clock.now() / 1000;
    if (iss !== issuerUrl) throw new ClaimError('the token is from another issuer');
    if (!isForOneOf([clientId], aud)) throw new ClaimError('the token is for another client');
    if (typeof exp !== 'number' || exp <= now) throw new ClaimError('the token has expired');
    if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + notBeforeLeewaySeconds)) {
      throw new ClaimError('the token is not valid yet');
    }
  }

  private async userOf(claims: Claims, signal: AbortSignal): Promise<UserInfo> {
    const { usernameClaim, groupsClaim, groupsPrefix, credentialPrefix } = this.settings;
    const name = claim(claims, usernameClaim);
    if (typeof name !== 'string' || name === '') {
      throw new ClaimError(`claim ${JSON.stringify(usernameClaim)} is not a string`);
    }
    if (usernameClaim === 'email') checkEmail(claims);
    for (const [key, value] of this.required) {
      if (claim(claims, key) !== value)
        throw new ClaimError(`claim ${JSON.stringify(key)} does not have the required value`);
    }
    const groups = groupsClaim === undefined ? [] : await this.groupsOf(claims, groupsClaim, signal);
    const tokenId = claim(claims, 'jti');
    return Object.freeze({
      name: `${this.usernamePrefix}${name}`,
      uid: '',
      groups: Object.freeze(groups.map((group) => `${groupsPrefix}${group}`)),
      extra: Object.freeze(
        typeof tokenId === 'string' ? { [`${credentialPrefix}/credential-id`]: Object.freeze([`JTI=${tokenId}`]) } : {},
      ),
    });
  }

  private async groupsOf(claims: Claims, name: string, signal: AbortSignal): Promise<readonly string[]> {
    const value = claim(claims, name) ?? (await this.sources.resolve(claims, name, signal));
    if (value === undefined) return [];
    const groups: unknown[] = Array.isArray(value) ? value : [value];
    if (groups.every((group) => typeof group === 'string')) return groups;
    throw new ClaimError(`claim ${JSON.stringify(name)} is neither a string nor a list of strings`);
  }
}

/** A claim of the token itself, never a property inherited from the prototype. */
export function claim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** Rejects an email address that the provider marks as unverified. An address without that mark is accepted. */
export function checkEmail(claims: Claims): void {
  const verified = claim(claims, 'email_verified');
  if (verified !== undefined && verified !== true) throw new ClaimError('the email address is not verified');
}

/** The issuer that a token names, verified or not; undefined when the token is not a JWT. */
export function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}
