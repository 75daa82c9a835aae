import { Agent } from 'node:https';
import * as openid from 'openid-client';
import type { Clock } from '../../base/machinery/clock.js';
import { errorText } from '../../base/machinery/startup-error.js';
import { httpsRequest } from '../../base/outgoing/https-request.js';
import { OidcRefusal } from './oidc-refusal.js';
import { OidcUnreachable } from './oidc-unreachable.js';

/** An OpenID Connect provider, and the client that the console is to it. */
export interface OidcSettings {
  /** The provider's address, always https. */
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Undefined for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  /** Authorities of the provider's certificate in PEM; undefined: those of the host. */
  readonly ca: string | undefined;
  readonly scopes: readonly string[];
}

/** What one login has to prove when the browser comes back from the provider. */
export interface OidcChecks {
  /** Where the provider sends the browser back to, exactly as it is registered there. */
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Tokens of a user. None of them ever reaches the browser. */
export interface OidcTokens {
  /** The credentials that the API server gets. */
  readonly idToken: string;
  readonly subject: string;
  /** When the ID token ends, in milliseconds since the epoch. */
  readonly until: number;
  readonly refreshToken: string | undefined;
}

const answerSeconds = 10;
const mostBytes = 1024 * 1024;
/** How far the clocks of the provider and of this machine may differ. */
const toleranceSeconds = 10;
/** How long the provider's own description counts before it is read again. */
const freshMs = 3_600_000;

/** The answers of the provider by which it refuses this login, rather than being out of order. */
const refusals: ReadonlySet<string> = new Set([
  'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
  'OAUTH_RESPONSE_BODY_ERROR',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_INVALID_SIGNATURE',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

/**
 * The console as a client of an OpenID Connect provider: the code flow with state, nonce and PKCE, and a check of each ID
 * token's signature, issuer, audience and times. The provider is discovered at the first use, so it need not be up when
 * the console starts. Requests go over https only and follow no redirects.
 */
export class OidcClient {
  private found: { readonly provider: Promise<openid.Configuration>; readonly until: number } | undefined;
  private readonly agent: Agent;

  constructor(
    private readonly settings: OidcSettings,
    private readonly clock: Clock,
  ) {
    const { ca } = settings;
    this.agent = new Agent({ keepAlive: false, ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }) });
  }

  /** The host of the provider, which people know it by. */
  get providerName(): string {
    return new URL(this.settings.issuerUrl).host;
  }

  static newChecks(redirectUri: string): OidcChecks {
    return {
      redirectUri,
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
  }

  /** The address of the provider to which the browser goes to log in. @throws OidcUnreachable */
  async loginUrl({ redirectUri, state, nonce, verifier }: OidcChecks): Promise<string> {
    const url = openid.buildAuthorizationUrl(await this.provider(), {
      redirect_uri: redirectUri,
      scope: this.settings.scopes.join(' '),
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    if (url.protocol !== 'https:') throw new OidcUnreachable('the provider has no https address to log in at');
    return url.href;
  }

  /**
   * Exchanges the code that the provider gave the browser for tokens.
   *
   * @param answer the query with which the browser came back
   * @throws OidcRefusal, OidcUnreachable
   */
  async tokens(answer: string, { redirectUri, state, nonce, verifier }: OidcChecks): Promise<OidcTokens> {
    const provider = await this.provider();
    const came = new URL(redirectUri);
    came.search = answer;
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    return this.asked(async () => tokensOf(await openid.authorizationCodeGrant(provider, came, checks), undefined));
  }

  /** Gets a new ID token of the same user. @throws OidcRefusal when the user is no longer let in; OidcUnreachable */
  async renewed({ refreshToken = '', subject }: OidcTokens): Promise<OidcTokens> {
    const provider = await this.provider();
    const tokens = await this.asked(async () =>
      tokensOf(await openid.refreshTokenGrant(provider, refreshToken), refreshToken),
    );
    if (tokens.subject !== subject) throw new OidcRefusal('the provider gave a token of another user');
    return tokens;
  }

  /** Ends what a refresh token allows, where the provider can do so. @throws OidcUnreachable, OidcRefusal */
  async revoke(refreshToken: string): Promise<void> {
    const provider = await this.provider();
    if (provider.serverMetadata().revocation_endpoint === undefined) return;
    await this.asked(() => openid.tokenRevocation(provider, refreshToken, { token_type_hint: 'refresh_token' }));
  }

  stop(): void {
    this.agent.destroy();
  }

  private provider(): Promise<openid.Configuration> {
    const now = this.clock.now();
    if (this.found !== undefined && now < this.found.until) return this.found.provider;
    const provider = this.asked(() => this.discover());
    const found = { provider, until: now + freshMs };
    this.found = found;
    provider.catch(() => {
      if (this.found === found) this.found = undefined;
    });
    return provider;
  }

  private async discover(): Promise<openid.Configuration> {
    const { issuerUrl, clientId, clientSecret } = this.settings;
    return openid.discovery(
      new URL(issuerUrl),
      clientId,
      { [openid.clockTolerance]: toleranceSeconds },
      clientSecret === undefined ? openid.None() : secretAuth(clientSecret),
      {
        [openid.customFetch]: (url, options) => this.fetch(url, options),
        execute: [openid.enableNonRepudiationChecks],
        timeout: answerSeconds,
      },
    );
  }

  private async fetch(address: string, options: openid.CustomFetchOptions): Promise<Response> {
    const url = new URL(address);
    if (url.protocol !== 'https:') throw new Error(`${url.origin} is not asked: it is not an https address`);
    const body = options.body instanceof URLSearchParams ? options.body.toString() : (options.body ?? undefined);
    if (body !== undefined && typeof body !== 'string') throw new Error('the body is not a form');
    const { status, headers, text } = await httpsRequest({
      url,
      method: options.method === 'POST' ? 'POST' : 'GET',
      agent: this.agent,
      headers: options.headers,
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
      signal: options.signal ?? AbortSignal.timeout(answerSeconds * 1000),
      maxAnswerBytes: mostBytes,
    });
    const type = headers['content-type'];
    return new Response(status === 204 ? null : text, {
      status,
      headers: type === undefined ? {} : { 'content-type': type },
    });
  }

  private async asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof OidcRefusal || error instanceof OidcUnreachable) throw error;
      const { code = '' } = error as { code?: string };
      const text = `${this.providerName}: ${reasonOf(error)}`;
      if (refusals.has(code) && !isOutOfOrder(error)) throw new OidcRefusal(text, { cause: error });
      throw new OidcUnreachable(text, { cause: error });
    }
  }
}

/** As the provider's description says; where it says nothing, the protocol's own default. */
function secretAuth(secret: string): openid.ClientAuth {
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isPost = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
    return (isPost ? post : basic)(server, client, body, headers);
  };
}

function tokensOf(
  answer: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
  before: string | undefined,
): OidcTokens {
  const claims = answer.claims();
  if (answer.id_token === undefined || claims === undefined) throw new OidcRefusal('the provider gave no ID token');
  return {
    idToken: answer.id_token,
    subject: claims.sub,
    until: claims.exp * 1000,
    // Providers that don't replace a refresh token let it be used again.
    refreshToken: answer.refresh_token ?? before,
  };
}

/** Whether the answer is a fault of the provider, which may pass. */
function isOutOfOrder(error: unknown): boolean {
  const { status } = error as { status?: number };
  return typeof status === 'number' && (status >= 500 || status === 429);
}

/** The provider's word for the reason, such as `access_denied`; never its whole answer, which may hold secrets. */
function reasonOf(error: unknown): string {
  const { error: word } = error as { error?: unknown };
  if (typeof word === 'string' && /^[a-z_]{1,64}$/.test(word)) return word;
  return errorText(error).slice(0, 200);
}
