import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { TokenCache } from '../token-cache.js';
import { WebhookTokenAuthenticator } from './webhook-token.authenticator.js';

const names = vendorNames('k8s.io');
const never = new AbortController().signal;
const own = ['api'];

type Review = { readonly spec: { readonly token: string; readonly audiences?: readonly string[] } };

/** Tokens that start with `good` belong to a user of the same name; `fail` makes the call fail. */
function fixture(maxCachedAnswers = 100, cacheTtlMs = 1000) {
  const clock = { time: 0, now: () => clock.time };
  const asked: string[] = [];
  const log: object[] = [];
  const revoked = new Set<string>();
  const client = {
    post: async (value: unknown) => {
      const { token } = (value as Review).spec;
      asked.push(token);
      if (token.startsWith('fail') && !revoked.has(token)) throw new Error('away');
      const authenticated = !token.startsWith('bad') && !revoked.has(`-${token}`);
      return { kind: 'TokenReview', status: authenticated ? { authenticated, user: { username: token } } : {} };
    },
  };
  const note = (text: string, fields: object = {}) => log.push({ text, ...fields });
  const logger = { error: note, info: note };
  const method = new WebhookTokenAuthenticator(
    { version: 'v1', cacheTtlMs, maxCachedAnswers, apiAudiences: own },
    { client, names, clock, logger },
  );
  const kindOf = async (token: string, audiences: readonly string[] = own) =>
    (await method.authenticateToken(token, audiences, never)).kind;
  return { method, clock, asked, log, revoked, kindOf };
}

describe('WebhookTokenAuthenticator', () => {
  it('caches good and bad answers for their time to live, and no longer', async () => {
    const { clock, asked, revoked, kindOf } = fixture();
    for (let i = 0; i < 3; i++) {
      assert.equal(await kindOf('good'), 'user');
      assert.equal(await kindOf('bad'), 'none');
    }
    assert.deepEqual(asked, ['good', 'bad']);
    revoked.add('-good');
    clock.time = 999;
    assert.equal(await kindOf('good'), 'user');
    clock.time = 1000;
    assert.equal(await kindOf('good'), 'none');
    assert.equal(await kindOf('bad'), 'none');
    assert.deepEqual(asked, ['good', 'bad', 'good', 'bad']);
  });

  it('is not cached longer by the cache in front of it', async () => {
    const { method, clock, asked, revoked } = fixture();
    const front = new TokenCache(method, clock, { ttlMs: 10_000, maxEntries: 10 });
    clock.time = 500;
    assert.equal((await method.authenticateToken('good', own, never)).kind, 'user');
    clock.time = 1400;
    assert.equal((await front.authenticateToken('good', own, never)).kind, 'user');
    revoked.add('-good');
    clock.time = 1500;
    assert.equal((await front.authenticateToken('good', own, never)).kind, 'none');
    assert.equal(asked.length, 2);
  });

  it('does not cache failures', async () => {
    const { asked, log, revoked, kindOf } = fixture();
    assert.equal(await kindOf('fail'), 'rejected');
    assert.equal(await kindOf('fail'), 'rejected');
    assert.deepEqual(log.splice(0), [{ text: 'the token webhook cannot be called', problem: 'away' }]);
    revoked.add('fail');
    assert.equal(await kindOf('fail'), 'user');
    assert.deepEqual(log, [{ text: 'the token webhook answers again', failures: 2 }]);
    assert.equal(asked.length, 3);
  });

  it('keeps answers for different audiences apart', async () => {
    const { asked, kindOf } = fixture();
    assert.equal(await kindOf('good', ['api']), 'user');
    assert.equal(await kindOf('good', ['other']), 'none');
    assert.equal(await kindOf('good', ['api']), 'user');
    assert.equal(asked.length, 2);
  });

  it('stays small, and bad tokens never evict good ones', async () => {
    const { asked, kindOf } = fixture(3);
    await kindOf('good');
    for (let i = 0; i < 50; i++) await kindOf(`bad-${i}`);
    asked.length = 0;
    assert.equal(await kindOf('good'), 'user');
    assert.equal(await kindOf('bad-49'), 'none');
    assert.deepEqual(asked, []);
    await kindOf('bad-0');
    assert.deepEqual(asked, ['bad-0']);
  });

  it('caches nothing without a time to live', async () => {
    const { asked, kindOf } = fixture(100, 0);
    await kindOf('good');
    await kindOf('good');
    assert.equal(asked.length, 2);
  });
});
