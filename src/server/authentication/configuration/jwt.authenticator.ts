import { systemDelay } from '../../../base/config/file-poll.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { Budget, expressionCostLimit, type Value } from '../../../objects/cel/index.js';
import { ClaimError } from '../oidc/claim-error.js';
import { ClaimSourceError } from '../oidc/claim-source-error.js';
import { ClaimSources } from '../oidc/claim-sources.js';
import { type HttpsGetter, httpsGetter } from '../oidc/https-get.js';
import { isForOneOf } from '../oidc/is-for-one-of.js';
import type { ProviderDependencies } from '../oidc/oidc-provider.js';
import { OidcProvider } from '../oidc/oidc-provider.js';
import { type Claims, checkEmail, claim, notBeforeLeewaySeconds } from '../oidc/oidc-token.authenticator.js';
import { SignatureError } from '../oidc/signature-error.js';
import { rejectedToken, type TokenResult } from '../token-authenticator.js';
import type { ClaimSource, JwtIssuer, ValidationRule } from './authentication-document.js';
import { type ClaimExpression, claimText, evaluateClaims, holds, textsOf, userValue } from './claim-expressions.js';
import { ExpressionError } from './expression-error.js';

const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];

/** Dependencies of the method. */
export interface JwtDependencies extends Omit<ProviderDependencies, 'get' | 'wait'> {
  /** Prefix of the extra fields that describe the credential. */
  readonly credentialPrefix: string;
}

/**
 * The tokens of one issuer of `--authentication-config`. All expressions about one token share a budget, so together
 * they block the process no longer than one expression may.
 */
export class JwtAuthenticator {
  private readonly stopping = new AbortController();
  private readonly get: HttpsGetter;
  private readonly provider: OidcProvider;
  private readonly sources: ClaimSources;

  constructor(
    readonly issuer: JwtIssuer,
    private readonly dependencies: JwtDependencies,
  ) {
    this.get = httpsGetter(issuer.certificateAuthority);
    const needed: ProviderDependencies = { ...dependencies, get: this.get, wait: systemDelay };
    this.provider = new OidcProvider(issuer.url, signingAlgorithms, needed, issuer.discoveryUrl);
    const providerOf = (url: string) => new OidcProvider(url, signingAlgorithms, needed);
    this.sources = new ClaimSources(
      this.provider,
      issuer.audiences,
      this.get,
      () => dependencies.clock.now(),
      providerOf,
    );
  }

  /** Begins to fetch the issuer's keys in the background. */
  start(): void {
    this.provider.start(this.stopping.signal);
  }

  /** Resolves once tokens can be checked; rejects when the signal is aborted before that. */
  ready(signal: AbortSignal): Promise<void> {
    return this.provider.ready(signal);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.provider.stopped();
    this.get.close();
  }

  /**
   * @param token one that names this issuer
   * @param audiences those of this server for which it is valid
   */
  async authenticate(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenResult> {
    try {
      const claims = await this.provider.verify(token);
      this.checkClaims(claims);
      const user = await this.userOf(claims, signal);
      return { kind: 'user', user, audiences, expiresAt: (claims.exp as number) * 1000 };
    } catch (error) {
      const isAboutToken =
        error instanceof SignatureError ||
        error instanceof ClaimError ||
        error instanceof ClaimSourceError ||
        error instanceof ExpressionError;
      if (isAboutToken) return rejectedToken(`oidc: ${error.message}`);
      throw error;
    }
  }

  private checkClaims({ iss, aud, exp, nbf }: Claims): void {
    const now = this.dependencies.clock.now() / 1000;
    if (iss !== this.issuer.url) throw new ClaimError('the token is from another issuer');
    if (!isForOneOf(this.issuer.audiences, aud)) throw new ClaimError('the token is for another audience');
    if (typeof exp !== 'number' || exp <= now) throw new ClaimError('the token has expired');
    if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + notBeforeLeewaySeconds)) {
      throw new ClaimError('the token is not valid yet');
    }
  }

  private async userOf(claims: Claims, signal: AbortSignal): Promise<UserInfo> {
    const { issuer } = this;
    const budget = new Budget(expressionCostLimit);
    const about = { claims: claims as unknown as Value };
    const value = (expression: ClaimExpression) => evaluateClaims(expression, about, budget);
    for (const [name, wanted] of issuer.requiredClaims) {
      if (claim(claims, name) !== wanted) {
        throw new ClaimError(`claim ${JSON.stringify(name)} does not have the required value`);
      }
    }
    for (const rule of issuer.claimRules) check(rule, value(rule.expression));
    const name = this.nameOf(issuer.username, claims, value);
    if (name === '') throw new ClaimError('the user name is empty');
    const groups = issuer.groups === undefined ? [] : await this.groupsOf(issuer.groups, claims, value, signal);
    const uid = issuer.uid === undefined ? '' : textFrom(issuer.uid, claims, value);
    const extra: Record<string, readonly string[]> = {};
    for (const { key, expression } of issuer.extra) {
      const texts = textsOf(value(expression), expression);
      if (texts.length > 0) extra[key] = Object.freeze(texts);
    }
    const tokenId = claim(claims, 'jti');
    if (typeof tokenId === 'string') extra[`${this.dependencies.credentialPrefix}/credential-id`] = [`JTI=${tokenId}`];
    const user: UserInfo = Object.freeze({ name, uid, groups: Object.freeze(groups), extra: Object.freeze(extra) });
    const known = { user: userValue(user) };
    for (const rule of issuer.userRules) check(rule, evaluateClaims(rule.expression, known, budget));
    return user;
  }

  private nameOf(source: ClaimSource, claims: Claims, value: (expression: ClaimExpression) => Value): string {
    if (source.kind === 'claim' && source.claim === 'email') checkEmail(claims);
    const name = textFrom(source, claims, value);
    return source.kind === 'claim' && name !== '' ? `${source.prefix}${name}` : name;
  }

  private async groupsOf(
    source: ClaimSource,
    claims: Claims,
    value: (expression: ClaimExpression) => Value,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    if (source.kind === 'expression') return textsOf(value(source.expression), source.expression);
    const found = claim(claims, source.claim) ?? (await this.sources.resolve(claims, source.claim, signal));
    if (found === undefined) return [];
    const groups: unknown[] = Array.isArray(found) ? found : [found];
    if (groups.every((group) => typeof group === 'string')) return groups.map((group) => `${source.prefix}${group}`);
    throw new ClaimError(`claim ${JSON.stringify(source.claim)} is neither a string nor a list of strings`);
  }
}

function textFrom(source: ClaimSource, claims: Claims, value: (expression: ClaimExpression) => Value): string {
  if (source.kind === 'expression') return claimText(value(source.expression), source.expression);
  const found = claim(claims, source.claim);
  if (typeof found === 'string') return found;
  throw new ClaimError(`claim ${JSON.stringify(source.claim)} is not a string`);
}

function check({ expression, message }: ValidationRule, value: Value): void {
  if (!holds(value, expression)) throw new ClaimError(message || `${JSON.stringify(expression.text)} does not hold`);
}
