import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import { SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { serverAuth, TestIdentity } from './test-authority.js';

/** The secret of every client. */
export const clientSecret = 'client-secret';

/** How people log in with a browser. */
export interface BrowserLogins {
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  /** Who logs in: nobody is asked for a password. */
  account: string;
  idTokenSeconds: number;
  readonly givesRefreshTokens: boolean;
}

const interactionPath = '/interaction/';

interface LoginContext {
  readonly oidc: { readonly client: { readonly clientId: string }; readonly session: { readonly accountId: string } };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface ProviderKeys {
  readonly rsa: KeyObject;
  readonly ec: KeyObject;
  readonly generation: number;
}

/** An OpenID Connect provider over TLS, with an authority of its own, whose keys can be replaced. */
export class IdentityProvider {
  /** The answers of other paths. */
  readonly extraPaths = new Map<string, Handler>();
  /** How often the keys were read. */
  keyReads = 0;
  private server: Server | undefined;
  private logins: BrowserLogins | undefined;
  private keys: ProviderKeys;
  private callback: Handler;

  private constructor(
    private readonly port: number,
    private readonly authority: TestIdentity,
    private readonly identity: TestIdentity,
  ) {
    this.keys = makeKeys(1);
    this.callback = this.makeProvider();
  }

  /** Prepares a provider at a port; it is down until `listen`. */
  static async prepare(port: number): Promise<IdentityProvider> {
    const authority = await TestIdentity.root('identity provider');
    const identity = await authority.issue({
      subject: [{ CN: ['127.0.0.1'] }],
      usages: [serverAuth],
      names: [{ type: 'ip', value: '127.0.0.1' }],
    });
    return new IdentityProvider(port, authority, identity);
  }

  get issuer(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** The authority of the provider's certificate in PEM. */
  get ca(): string {
    return this.authority.cert;
  }

  async listen(): Promise<void> {
    const server = createServer({ cert: this.identity.chain, key: this.identity.key }, (asked, answer) => {
      const extra = this.extraPaths.get(asked.url ?? '');
      if (asked.url === '/jwks') this.keyReads++;
      const path = asked.url?.split('?', 1)[0] ?? '';
      (extra ?? this.extraPaths.get(path) ?? this.callback)(asked, answer);
    });
    this.server = server;
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
  }

  async close(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  /** Lets people log in with a browser from now on. Forgets all earlier logins and tokens. */
  allowLogins(logins: BrowserLogins): void {
    this.logins = logins;
    this.callback = this.makeProvider();
  }

  /** Replaces the old keys by new ones. */
  rotate(): void {
    this.keys = makeKeys(this.keys.generation + 1);
    this.callback = this.makeProvider();
  }

  /** Lets the provider issue an ID token for a client. */
  async issue(claims: Readonly<Record<string, unknown>>, client = 'plinth', expiresInSeconds = 600): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'password',
      claims_json: JSON.stringify(claims),
      expires_in: String(expiresInSeconds),
    });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${client}:${clientSecret}`).toString('base64')}`,
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${this.issuer}/token`, { method: 'POST', headers, ca: this.ca, agent: false }, resolve);
      sent.on('error', reject).end(form.toString());
    });
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const { id_token: token } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id_token?: string };
    if (token === undefined) throw new Error(`the provider issues no token: ${Buffer.concat(chunks)}`);
    return token;
  }

  /** Signs claims with a key of the provider, for tokens that no provider would issue. */
  sign(claims: Readonly<Record<string, unknown>>, alg = 'RS256', header: object = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const isEc = alg.startsWith('ES');
    const kid = `${isEc ? 'ec' : 'rsa'}-${this.keys.generation}`;
    return new SignJWT({ iss: this.issuer, aud: 'plinth', exp: now + 600, iat: now, ...claims })
      .setProtectedHeader({ alg, kid, ...header })
      .sign(isEc ? this.keys.ec : this.keys.rsa);
  }

  private makeProvider(): Handler {
    const { rsa, ec, generation } = this.keys;
    const client = (id: string) => ({
      client_id: id,
      client_secret: clientSecret,
      grant_types: ['password'],
      redirect_uris: [],
      response_types: [],
    });
    const provider: Provider = new Provider(this.issuer, {
      clients: [client('plinth'), client('other'), ...this.browserClients()],
      jwks: {
        keys: [
          // A key without `alg` works with every algorithm of its kind.
          { ...rsa.export({ format: 'jwk' }), kid: `rsa-${generation}`, use: 'sig' },
          { ...ec.export({ format: 'jwk' }), kid: `ec-${generation}`, use: 'sig' },
        ],
      },
      features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
      ...this.loginSettings(() => provider),
    });
    provider.registerGrantType(
      'password',
      async (ctx) => {
        const claims = JSON.parse(ctx.oidc.params.claims_json ?? '{}') as Record<string, unknown>;
        const token = new provider.IdToken({ sub: String(claims.sub) }, { ctx });
        token.scope = 'openid';
        for (const [name, value] of Object.entries(claims)) token.set(name, value);
        const expiresAt = Math.floor(Date.now() / 1000) + Number(ctx.oidc.params.expires_in);
        ctx.body = { id_token: await token.issue({ use: 'idtoken', expiresAt }) };
      },
      ['claims_json', 'expires_in'],
    );
    const answer = provider.callback();
    return (asked, response) => {
      if (!asked.url?.startsWith(interactionPath)) return answer(asked, response);
      const login = { accountId: this.logins?.account ?? '' };
      provider.interactionFinished(asked, response, { login }).catch(() => response.writeHead(400).end());
    };
  }

  private browserClients(): object[] {
    if (this.logins === undefined) return [];
    const { clientId, redirectUris } = this.logins;
    return [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: redirectUris,
        response_types: ['code'],
      },
    ];
  }

  /** Every user is the one that the test names, and has given all consents. */
  private loginSettings(provider: () => Provider): object {
    return {
      cookies: { keys: ['key of the cookies'] },
      pkce: { required: () => true },
      scopes: ['openid', 'offline_access', 'email'],
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `${interactionPath}${uid}` },
      issueRefreshToken: () => Promise.resolve(this.logins?.givesRefreshTokens === true),
      ttl: { IdToken: () => this.logins?.idTokenSeconds ?? 600 },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
      loadExistingGrant: async ({ oidc }: LoginContext) => {
        const grant = new (provider().Grant)({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email offline_access');
        await grant.save();
        return grant;
      },
    };
  }
}

function makeKeys(generation: number): ProviderKeys {
  return {
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    generation,
  };
}
