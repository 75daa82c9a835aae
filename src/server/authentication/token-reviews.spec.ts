import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TokenFileAuthenticator } from './bearer-token/token-file.authenticator.js';
import { rejectedToken, type TokenAuthenticator } from './token-authenticator.js';
import { TokenReviews } from './token-reviews.js';
import { TokenUnion } from './token-union.js';

const { signal } = new AbortController();
const suspicious: TokenAuthenticator = {
  authenticateToken: (token) => (token === 'late' ? rejectedToken('Token has expired.') : { kind: 'none' }),
};
const file = TokenFileAuthenticator.fromText('secret,alice,alice-uid,"devs"', ['api', 'api2']);
const silent = { error: assert.fail as (text: string) => void, info: assert.fail as (text: string) => void };
const reviews = new TokenReviews(new TokenUnion([file, suspicious], silent), ['api', 'api2']);

describe('TokenReviews', () => {
  it('names the user, and the requested audiences that a token is valid for', async () => {
    const user = { name: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'], extra: {} };
    const own = await reviews.review('secret', [], signal);
    assert.deepEqual(own, { authenticated: true, user, audiences: ['api', 'api2'] });
    const asked = await reviews.review('secret', ['x', 'api2'], signal);
    assert.deepEqual(asked.authenticated && asked.audiences, ['api2']);
  });

  for (const [what, token, audiences, error] of [
    ['unknown', 'nonsense', [], 'invalid bearer token'],
    ['for others', 'secret', ['other'], 'invalid bearer token'],
    ['too long', 's'.repeat(20_000), [], 'invalid bearer token'],
    ['refused by a method', 'late', [], '[invalid bearer token, Token has expired.]'],
  ] as const) {
    it(`says what is wrong with a token that is ${what}`, async () => {
      assert.deepEqual(await reviews.review(token, audiences, signal), { authenticated: false, error });
    });
  }
});
