import { decodeJwt } from 'jose';
import type { UserInfo } from '../../machinery/request-context.js';
import {
  ownAudiences,
  rejectedToken,
  type TokenAuthenticator,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';
import { ClaimSourceError, ClaimSources } from './distributed-claims.js';
import { OidcProvider, type ProviderParts, SignatureError } from './provider.js';

/** The clock of the provider may be ahead of ours by this much. */
const notBeforeLeewaySeconds = 300;

/** What ID tokens have to say and how users follow from it (specification 5.2). */
export interface OidcSettings {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Undefined: the issuer, `-`: none. */
  readonly usernamePrefix: string | undefined;
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  /** `key=value`. */
  readonly requiredClaims: readonly string[];
  readonly signingAlgorithms: readonly string[];
  /** Audiences of this server, which all ID tokens count for. */
  readonly apiAudiences: readonly string[];
  /** Prefix of extra fields that tell about the credential. */
  readonly credentialPrefix: string;
}

type Claims = Readonly<Record<string, unknown>>;

/** A claim that is missing or is not what it has to be. */
class ClaimError extends Error {}

/** ID tokens of an OpenID Connect provider (OpenID Connect Core 1.0 section 3.1.3.7). */
export class OidcTokenAuthenticator implements TokenAuthenticator {
  private readonly provider: OidcProvider;
  private readonly sources: ClaimSources;
  private readonly usernamePrefix: string;
  private readonly required: readonly (readonly [string, string])[];

  constructor(
    private readonly settings: OidcSettings,
    private readonly parts: ProviderParts,
  ) {
    const { issuerUrl, signingAlgorithms, clientId, usernameClaim, usernamePrefix } = settings;
    const providerOf = (issuer: string) => new OidcProvider(issuer, signingAlgorithms, parts);
    this.provider = providerOf(issuerUrl);
    const now = () => parts.clock.now();
    this.sources = new ClaimSources(this.provider, clientId, parts.get, now, providerOf);
    const defaultPrefix = usernameClaim === 'email' ? '' : `${issuerUrl}#`;
    this.usernamePrefix = usernamePrefix === '-' ? '' : usernamePrefix || defaultPrefix;
    this.required = settings.requiredClaims.map((text) => {
      const equals = text.indexOf('=');
      return [text.slice(0, equals), text.slice(equals + 1)] as const;
    });
  }

  /** Looks for the provider in the background. */
  start(signal: AbortSignal): void {
    this.provider.start(signal);
  }

  /** Resolves when nothing runs any more after the abort. */
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
    const now = this.parts.clock.now() / 1000;
    if (iss !== issuerUrl) throw new ClaimError('the token is of another issuer');
    const isOurs = Array.isArray(aud) ? aud.includes(clientId) : aud === clientId;
    if (!isOurs) throw new ClaimError('the token is for another client');
    if (typeof exp !== 'number' || exp <= now) throw new ClaimError('the token has expired');
    if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + notBeforeLeewaySeconds)) {
      throw new ClaimError('the token is not valid yet');
    }
  }

  private async userOf(claims: Claims, signal: AbortSignal): Promise<UserInfo> {
    const { usernameClaim, groupsClaim, groupsPrefix, credentialPrefix } = this.settings;
    const name = claim(claims, usernameClaim);
    if (typeof name !== 'string' || name === '') {
      throw new ClaimError(`claim ${JSON.stringify(usernameClaim)} is not a text`);
    }
    if (usernameClaim === 'email') checkEmail(claims);
    for (const [key, value] of this.required) {
      if (claim(claims, key) !== value) throw new ClaimError(`claim ${JSON.stringify(key)} is not as required`);
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
    throw new ClaimError(`claim ${JSON.stringify(name)} is neither a text nor a list of texts`);
  }
}

/** A claim of the token's own, never one of the language's. */
function claim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** An address that the provider says nothing about counts; one that it calls unverified does not. */
function checkEmail(claims: Claims): void {
  const verified = claim(claims, 'email_verified');
  if (verified !== undefined && verified !== true) throw new ClaimError('the email address is not verified');
}

function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}
