import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type BrowserLogins, clientSecret, IdentityProvider } from '../../../test/support/identity-provider.js';
import { freePort } from '../../../test/support/ports.js';
import { flowMs } from './oidc-flow.js';
import { type ConsoleAnswer, ConsoleScene } from './testing/console-scene.js';

const json = { 'content-type': 'application/json' };
const callback = '/console/oidc/callback';

interface Begun {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

describe('logins of the console by an OpenID Connect provider', () => {
  let scene: ConsoleScene;
  let provider: IdentityProvider;

  before(async () => {
    provider = await IdentityProvider.prepare(await freePort());
    const { issuer, ca } = provider;
    const scopes = ['openid', 'email'];
    scene = await ConsoleScene.start({ oidc: { issuerUrl: issuer, clientId: 'console', clientSecret, ca, scopes } });
    allow();
  });
  after(async () => {
    await scene?.stop();
    await provider?.close();
  });
  beforeEach(() => {
    scene.now = Date.now();
    scene.api.forget();
    provider.extraPaths.clear();
  });

  function allow(more: Partial<BrowserLogins> = {}): BrowserLogins {
    const usual = { account: 'jane', idTokenSeconds: 600, givesRefreshTokens: false };
    const logins = { clientId: 'console', redirectUris: [scene.origin + callback], ...usual, ...more };
    provider.allowLogins(logins);
    return logins;
  }

  async function begin(body = '{}'): Promise<Begun> {
    const { origin } = scene;
    const answer = await scene.send('POST', '/console/oidc/begin', { origin, ...json }, body);
    assert.equal(answer.status, 200, answer.text);
    const { url, key } = JSON.parse(answer.text) as { url: string; key: string };
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=600$/);
    return {
      url: new URL(url),
      headers: { origin, ...json, cookie: cookie.split(';')[0] ?? '', 'x-plinth-console': key },
    };
  }

  const finish = (headers: Record<string, string>, answer: string): Promise<ConsoleAnswer> =>
    scene.send('POST', '/console/oidc/finish', headers, JSON.stringify({ answer }));

  /** What a browser does at the provider. @returns the query with which it comes back */
  async function atProvider(url: URL): Promise<string> {
    const cookies = new Map<string, string>();
    let at = url;
    for (let hops = 0; hops < 10; hops++) {
      if (at.origin + at.pathname === scene.origin + callback) return at.search;
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(at, { ca: provider.ca, agent: false, headers: { cookie } }, resolve).on('error', reject).end();
      });
      response.resume();
      for (const set of response.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      assert.ok(response.headers.location, `the provider answered ${response.statusCode}`);
      at = new URL(response.headers.location, at);
    }
    throw new Error('the provider sends the browser in circles');
  }

  async function login(): Promise<Record<string, string>> {
    const { url, headers } = await begin();
    const answer = await finish(headers, await atProvider(url));
    assert.equal(answer.status, 200, answer.text);
    return sessionOf(answer);
  }

  function sessionOf(answer: ConsoleAnswer): Record<string, string> {
    const cookie = (answer.headers['set-cookie'] ?? []).find((text) => !text.includes('-oidc='))?.split(';')[0] ?? '';
    const { key } = JSON.parse(answer.text) as { key: string };
    return { origin: scene.origin, ...json, cookie, 'x-plinth-console': key };
  }

  const tokensSent = () => scene.api.arrived.map(({ headers }) => headers.authorization ?? '');

  it('are not begun while the provider is down, and are once it is up', async () => {
    const { origin } = scene;
    const answer = await scene.send('POST', '/console/oidc/begin', { origin, ...json }, '{}');
    assert.equal(answer.status, 502, answer.text);
    await provider.listen();
    await begin();
    const ways = await scene.send('GET', '/console/logins');
    assert.deepEqual(JSON.parse(ways.text), { clusters: [''], provider: new URL(provider.issuer).host });
  });

  it('open a session with an ID token that stays in the console', async () => {
    const { url, headers } = await begin();
    assert.equal(url.origin, provider.issuer);
    const asked = Object.fromEntries(url.searchParams);
    assert.equal(asked.response_type, 'code');
    assert.equal(asked.code_challenge_method, 'S256');
    assert.match(asked.code_challenge ?? '', /^[\w-]{43}$/);
    assert.ok((asked.state ?? '').length >= 43 && (asked.nonce ?? '').length >= 43);
    assert.equal(asked.redirect_uri, scene.origin + callback);
    assert.equal(asked.scope, 'openid email');
    const answer = await finish(headers, await atProvider(url));
    assert.equal(answer.status, 200, answer.text);
    const shown = JSON.parse(answer.text) as { user: { name: string } };
    assert.equal(shown.user.name, 'jane');
    const [sent = ''] = tokensSent();
    const token = sent.slice('Bearer '.length);
    assert.match(token, /^ey/);
    assert.equal(JSON.stringify(answer).includes(token), false, 'no token in the browser');
    const keys = sessionOf(answer);
    assert.equal(keys.cookie?.includes(token), false);
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 200);
    assert.equal(tokensSent().at(-1), sent);
    // The cookie of the flow is gone.
    assert.match(answer.headers['set-cookie']?.find((text) => text.includes('-oidc=')) ?? '', /-oidc=; .*Max-Age=0/);
  });

  it('are finished only by the page that began them, once, in time', async () => {
    const mine = await begin();
    const theirs = await begin();
    const good = await atProvider(mine.url);
    const changed = (name: string, value: string) => {
      const query = new URLSearchParams(good);
      query.set(name, value);
      return `?${query}`;
    };
    const { cookie = '', 'x-plinth-console': key = '' } = mine.headers;
    const without = (name: string) => Object.fromEntries(Object.entries(mine.headers).filter(([own]) => own !== name));
    const refused: [status: number, headers: Record<string, string>, answer: string][] = [
      // Somebody else's answer in this browser, and this browser's answer elsewhere.
      [401, theirs.headers, good],
      [400, { ...theirs.headers, cookie }, good],
      [400, { ...theirs.headers, 'x-plinth-console': key }, good],
      [400, without('cookie'), good],
      [400, without('x-plinth-console'), good],
      [403, without('origin'), good],
      [403, { ...mine.headers, origin: 'https://evil.example.com' }, good],
      [400, { ...mine.headers, cookie: `${cookie}; ${theirs.headers.cookie}` }, good],
      [401, mine.headers, changed('state', theirs.url.searchParams.get('state') ?? '')],
      [401, mine.headers, changed('state', '')],
      [401, mine.headers, changed('iss', 'https://evil.example.com')],
      [401, mine.headers, changed('code', 'made-up')],
      [401, mine.headers, `?error=access_denied&state=${mine.url.searchParams.get('state')}&iss=${provider.issuer}`],
      [401, mine.headers, ''],
    ];
    for (const [status, headers, answer] of refused) {
      const given = await finish(headers, answer);
      assert.equal(given.status, status, `${answer} ${given.text}`);
      assert.doesNotMatch(given.headers['set-cookie']?.join() ?? '', /Max-Age=60\b/);
    }
    assert.equal(scene.api.arrived.length, 0, 'the API server learns of none');
    scene.now += flowMs + 1000;
    assert.equal((await finish(mine.headers, good)).status, 400, 'too late');
    scene.now -= flowMs + 1000;
    const again = await begin();
    const code = await atProvider(again.url);
    assert.equal((await finish(again.headers, code)).status, 200);
    assert.equal((await finish(again.headers, code)).status, 401, 'a code counts once');
  });

  it('refuse tokens that are not for this login, this client or of this provider', async () => {
    const other = await IdentityProvider.prepare(await freePort());
    const past = Math.floor(Date.now() / 1000) - 3600;
    const forged: [what: string, token: (nonce: string) => Promise<string>][] = [
      ['another nonce', () => provider.sign({ sub: 'jane', aud: 'console', nonce: 'other' })],
      ['no nonce', () => provider.sign({ sub: 'jane', aud: 'console' })],
      ['another client', (nonce) => provider.sign({ sub: 'jane', aud: 'plinth', nonce })],
      [
        'another issuer',
        (nonce) => provider.sign({ sub: 'jane', aud: 'console', nonce, iss: 'https://evil.example.com' }),
      ],
      ['keys of another provider', (nonce) => other.sign({ sub: 'jane', aud: 'console', nonce, iss: provider.issuer })],
      ['the past', (nonce) => provider.sign({ sub: 'jane', aud: 'console', nonce, exp: past, iat: past - 60 })],
      ['no signature', async (nonce) => unsigned({ iss: provider.issuer, sub: 'jane', aud: 'console', nonce })],
      ['no token', async () => ''],
    ];
    for (const [what, token] of forged) {
      const { url, headers } = await begin();
      const good = await atProvider(url);
      const made = await token(url.searchParams.get('nonce') ?? '');
      answerTokens({ access_token: 'a', token_type: 'Bearer', ...(made === '' ? {} : { id_token: made }) });
      const answer = await finish(headers, good);
      assert.ok([401, 502].includes(answer.status), `${what}: ${answer.status} ${answer.text}`);
      assert.equal(JSON.parse(answer.text).kind, 'Status');
      assert.equal(answer.text.includes(made || 'nothing'), false, 'the token is not quoted');
    }
    assert.equal(scene.api.arrived.length, 0);
    const { url, headers } = await begin();
    const good = await atProvider(url);
    const fine = await provider.sign({ sub: 'kim', aud: 'console', nonce: url.searchParams.get('nonce') ?? '' });
    answerTokens({ access_token: 'a', token_type: 'Bearer', id_token: fine });
    assert.equal((await finish(headers, good)).status, 200, 'the same way with the right token');
  });

  it('lead nowhere else', async () => {
    const evil = JSON.stringify({ redirect_uri: 'https://evil.example.com', url: 'https://evil.example.com' });
    const { url } = await begin(evil);
    assert.equal(url.searchParams.get('redirect_uri'), scene.origin + callback);
    // The provider's redirect comes from another site.
    const site = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const page = await scene.send('GET', `${callback}?code=x&state=y&redirect=https://evil.example.com`, site);
    assert.equal(page.status, 200);
    assert.equal(page.headers.location, undefined);
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    assert.equal(page.headers['set-cookie'], undefined);
    for (const path of ['/console/oidc/begin', `${callback}/x`]) {
      assert.equal((await scene.send('GET', path, site)).status, 403, path);
    }
    const elsewhere = await scene.send('GET', `${callback}?code=x`, { host: 'evil.example.com' });
    assert.equal(elsewhere.status, 403);
    const { origin } = scene;
    const begun = await scene.send(
      'POST',
      '/console/oidc/begin',
      { origin: 'https://evil.example.com', ...json },
      '{}',
    );
    assert.equal(begun.status, 403);
    assert.equal((await scene.send('POST', callback, { origin, ...json }, '{}')).status, 405);
  });

  it('end with the ID token where nothing renews it', async () => {
    allow({ idTokenSeconds: 30 });
    const keys = await login();
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 200);
    scene.now = Date.now() + 31_000;
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 401);
  });

  it('renew an ID token that ends soon, as long as the provider lets them', async () => {
    const logins = allow({ idTokenSeconds: 40, givesRefreshTokens: true });
    const keys = await login();
    const first = tokensSent().at(-1);
    // Tokens of the same second would be equal.
    logins.idTokenSeconds = 41;
    scene.api.forget();
    // The token ends within a minute, so each request renews it; those at the same time share one.
    await Promise.all([1, 2, 3].map(() => scene.send('GET', '/api/v1/pods', keys)));
    const used = new Set(tokensSent());
    assert.equal(used.size, 1);
    assert.notEqual([...used][0], first);
    // While the provider is away, the token counts to its end.
    provider.extraPaths.set('/token', (_, response) => response.writeHead(503).end());
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 200);
    scene.now = Date.now() + 42_000;
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 502);
    provider.extraPaths.clear();
    scene.now += 6_000;
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 200);
    // A refresh token that begins to bring somebody else's tokens ends the session, as does a refusal.
    const stolen = await provider.sign({ sub: 'root', aud: 'console' });
    answerTokens({ access_token: 'a', token_type: 'Bearer', id_token: stolen });
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 401);
    assert.equal(tokensSent().includes(`Bearer ${stolen}`), false);
    provider.extraPaths.clear();
    assert.equal((await scene.send('GET', '/console/session', keys)).status, 401);
  });

  it('take the refresh token back at logout', async () => {
    allow({ givesRefreshTokens: true });
    const keys = await login();
    const revoked = new Promise<string>((resolve) => {
      provider.extraPaths.set('/token/revocation', (asked, response) => {
        response.writeHead(200).end();
        let body = '';
        asked.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        asked.on('end', () => resolve(body));
      });
    });
    assert.equal((await scene.send('POST', '/console/logout', keys, '{}')).status, 200);
    assert.match(await revoked, /token=[^&]+.*token_type_hint=refresh_token|token_type_hint=refresh_token.*token=/);
    assert.equal((await scene.send('GET', '/api/v1/pods', keys)).status, 401);
  });

  function answerTokens(body: object): void {
    provider.extraPaths.set('/token', (_, response) => {
      response.writeHead(200, json).end(JSON.stringify(body));
    });
  }
});

function unsigned(claims: object): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ ...claims, iat: now, exp: now + 600 })}.`;
}
