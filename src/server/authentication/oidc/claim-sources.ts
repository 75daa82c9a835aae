import { decodeJwt } from 'jose';
import { isRecord } from '../service-account/claims.js';
import { ClaimSourceError } from './claim-source-error.js';
import type { HttpsGet } from './https-get.js';
import { isForOneOf } from './is-for-one-of.js';
import type { OidcProvider } from './oidc-provider.js';

const maxIssuers = 16;

/**
 * Resolves claims that are not in the token itself (OpenID Connect Core 1.0 section 5.6.2): they are in a JWT inside
 * the token (aggregated) or in a JWT that a server returns (distributed). Either JWT must be signed by its issuer and
 * issued for the same client. If the claims can't be resolved, the token is rejected, because an incomplete set of
 * groups must not be used.
 */
export class ClaimSources {
  private readonly issuers = new Map<string, OidcProvider>();

  /** @param providerOf creates access to the keys of another issuer. */
  constructor(
    private readonly primary: OidcProvider,
    private readonly clients: readonly string[],
    private readonly get: HttpsGet,
    private readonly now: () => number,
    private readonly providerOf: (issuer: string) => OidcProvider,
  ) {}

  /** The claim from the source that `claims` names for it; undefined when `claims` names no source. */
  async resolve(claims: Readonly<Record<string, unknown>>, name: string, signal: AbortSignal): Promise<unknown> {
    const source = sourceOf(claims, name);
    if (source === undefined) return undefined;
    try {
      const token = await this.tokenOf(source, signal);
      const found = await this.verify(token, signal);
      if (found[name] === undefined) throw new ClaimSourceError('it does not have the claim');
      return found[name];
    } catch (error) {
      throw new ClaimSourceError(
        `claim ${JSON.stringify(name)} cannot be read from its source: ${(error as Error).message}`,
      );
    }
  }

  private async tokenOf(source: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> {
    if (typeof source.JWT === 'string') return source.JWT;
    if (typeof source.endpoint !== 'string') throw new ClaimSourceError('it has no address');
    const bearer = typeof source.access_token === 'string' ? source.access_token : undefined;
    if (bearer !== undefined && !/^[\x21-\x7e]+$/.test(bearer))
      throw new ClaimSourceError('its access token is not a valid token');
    const { body } = await this.get(source.endpoint, signal, bearer);
    return body.trim();
  }

  private async verify(token: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { iss } = decodeJwt(token);
    if (typeof iss !== 'string') throw new ClaimSourceError('its token has no issuer');
    const provider = await this.provider(iss, signal);
    const claims = await provider.verify(token);
    const { aud, exp } = claims;
    if (!isForOneOf(this.clients, aud)) throw new ClaimSourceError('its token is for another client');
    if (typeof exp !== 'number' || exp * 1000 <= this.now()) throw new ClaimSourceError('its token has expired');
    return claims;
  }

  private async provider(issuer: string, signal: AbortSignal): Promise<OidcProvider> {
    if (issuer === this.primary.issuer) return this.primary;
    let provider = this.issuers.get(issuer);
    if (provider === undefined) {
      if (this.issuers.size >= maxIssuers) throw new ClaimSourceError('there are too many issuers of claims');
      if (!issuer.startsWith('https://')) throw new ClaimSourceError('the issuer of its token is not an https address');
      provider = this.providerOf(issuer);
      await provider.discover(signal);
      this.issuers.set(issuer, provider);
    }
    return provider;
  }
}

function sourceOf(claims: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> | undefined {
  const { _claim_names: names, _claim_sources: sources } = claims;
  if (!isRecord(names) || !Object.hasOwn(names, name)) return undefined;
  const source = names[name];
  if (typeof source !== 'string' || !isRecord(sources) || !Object.hasOwn(sources, source)) return {};
  const found = sources[source];
  return isRecord(found) ? found : {};
}
