import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { UserInfo } from '../../base/machinery/request-context.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { rejectedToken, type TokenAuthenticator, type TokenIdentity, type TokenResult } from './token-authenticator.js';
import { TokenCache } from './token-cache.js';
import { TokenUnion } from './token-union.js';

const user: UserInfo = { name: 'u', uid: '', groups: [], extra: {} };
const never = new AbortController().signal;

function identity(rest: Partial<TokenIdentity> = {}): TokenIdentity {
  return { kind: 'user', user, audiences: ['api'], ...rest };
}

class Method implements TokenAuthenticator {
  calls = 0;
  signal: AbortSignal | undefined;

  constructor(private readonly answer: (token: string) => Promise<TokenResult> | TokenResult) {}

  authenticateToken(
    token: string,
    _audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<TokenResult> | TokenResult {
    this.calls++;
    this.signal = signal;
    return this.answer(token);
  }
}

function cacheOf(method: TokenAuthenticator, maxEntries = 100) {
  const clock = { time: 0, now: () => clock.time };
  return { cache: new TokenCache(method, clock, { ttlMs: 10_000, maxEntries }), clock };
}

describe('TokenCache', () => {
  it('remembers the user of a token for the time to live', async () => {
    const method = new Method(() => identity());
    const { cache, clock } = cacheOf(method);
    const first = await cache.authenticateToken('t', ['api'], never);
    assert.equal(await cache.authenticateToken('t', ['api'], never), first);
    clock.time = 9_999;
    assert.equal(await cache.authenticateToken('t', ['api'], never), first);
    assert.equal(method.calls, 1);
    clock.time = 10_000;
    await cache.authenticateToken('t', ['api'], never);
    assert.equal(method.calls, 2);
  });

  it('keeps tokens and audiences apart', async () => {
    const method = new Method(() => identity());
    const { cache } = cacheOf(method);
    const questions = [
      ['t', ['a']],
      ['t', ['b']],
      ['t', ['a', 'b']],
      ['t', ['a1:b']],
      ['u', ['a']],
      ['t', []],
    ] as const;
    for (const [token, audiences] of questions) await cache.authenticateToken(token, audiences, never);
    assert.equal(method.calls, questions.length);
  });

  it('never outlives the token', async () => {
    const method = new Method(() => identity({ expiresAt: 500 }));
    const { cache, clock } = cacheOf(method);
    await cache.authenticateToken('t', [], never);
    clock.time = 500;
    await cache.authenticateToken('t', [], never);
    assert.equal(method.calls, 2);
  });

  it('does not remember refusals', async () => {
    let answer: TokenResult = rejectedToken('no');
    const method = new Method(() => answer);
    const { cache } = cacheOf(method);
    assert.equal((await cache.authenticateToken('t', [], never)).kind, 'rejected');
    answer = identity();
    assert.equal((await cache.authenticateToken('t', [], never)).kind, 'user');
    assert.equal(cache.size, 1);
  });

  it('forgets identities that depend on a changed object', async () => {
    const method = new Method((token) => identity({ dependsOn: [`pods/ns/${token}`] }));
    const { cache } = cacheOf(method);
    for (const token of ['a', 'b']) await cache.authenticateToken(token, [], never);
    cache.changed('pods/ns/a');
    for (const token of ['a', 'b']) await cache.authenticateToken(token, [], never);
    assert.equal(method.calls, 3);
    cache.missed();
    assert.equal(cache.size, 0);
  });

  for (const how of ['changed', 'missed'] as const) {
    it(`does not remember an answer that was ${how === 'changed' ? 'outdated' : 'unwatched'} while it was made`, async () => {
      let finish: (result: TokenResult) => void = () => undefined;
      const method = new Method(() => new Promise((resolve) => (finish = resolve)));
      const { cache } = cacheOf(method);
      const asked = cache.authenticateToken('t', [], never);
      await new Promise(setImmediate);
      if (how === 'changed') cache.changed('pods/ns/p');
      else cache.missed();
      finish(identity({ dependsOn: ['pods/ns/p'] }));
      assert.equal((await asked).kind, 'user');
      assert.equal(cache.size, 0);
    });
  }

  it('is bounded', async () => {
    const { cache } = cacheOf(new Method(() => identity({ dependsOn: ['pods/ns/p'] })), 10);
    for (let i = 0; i < 100; i++) await cache.authenticateToken(`t${i}`, [], never);
    assert.equal(cache.size, 10);
    cache.changed('pods/ns/p');
    assert.equal(cache.size, 0);
  });

  it('checks once for concurrent requests, as long as one of them waits', async () => {
    let finish: (result: TokenResult) => void = () => undefined;
    const method = new Method(() => new Promise((resolve) => (finish = resolve)));
    const { cache } = cacheOf(method);
    const gone = new AbortController();
    const impatient = Promise.resolve(cache.authenticateToken('t', [], gone.signal));
    const patient = Promise.resolve(cache.authenticateToken('t', [], never));
    await new Promise(setImmediate);
    gone.abort(new Error('gone'));
    await assert.rejects(impatient, /gone/);
    assert.equal(method.signal?.aborted, false);
    finish(identity());
    assert.equal((await patient).kind, 'user');
    assert.equal(method.calls, 1);
  });

  it('goes on with a check whose client has left, for one that asks again', async () => {
    let finish: (result: TokenResult) => void = () => undefined;
    const method = new Method(() => new Promise<TokenResult>((resolve) => (finish = resolve)));
    const { cache } = cacheOf(method);
    for (let n = 0; n < 3; n++) {
      const gone = new AbortController();
      const asked = Promise.resolve(cache.authenticateToken('t', [], gone.signal));
      await new Promise(setImmediate);
      gone.abort(new Error('gone'));
      await assert.rejects(asked, /gone/);
    }
    assert.equal(method.calls, 1);
    finish(identity());
    await new Promise(setImmediate);
    assert.equal((await cache.authenticateToken('t', [], never)).kind, 'user');
    assert.equal(method.calls, 1);
  });

  it('abandons a check that nobody waits for', async () => {
    const method = new Method(() => new Promise(() => undefined));
    const { cache } = cacheOf(method);
    const gone = new AbortController();
    const asked = Promise.resolve(cache.authenticateToken('t', [], gone.signal));
    await new Promise(setImmediate);
    gone.abort(new Error('gone'));
    await assert.rejects(asked, /gone/);
    assert.equal(method.signal?.aborted, false);
    await once(method.signal as AbortSignal, 'abort');
  });
});

describe('TokenUnion', () => {
  const failures: unknown[] = [];
  const recoveries: unknown[] = [];
  const logger = {
    error: (_text: string, fields: unknown) => failures.push(fields),
    info: (_text: string, fields: unknown) => recoveries.push(fields),
  };
  const union = (...answers: (() => TokenResult)[]) =>
    new TokenUnion(
      answers.map((answer) => new Method(answer)),
      logger,
    );

  it('accepts the first success, whatever the other methods say', async () => {
    const result = await union(
      () => rejectedToken('a'),
      () => {
        throw new Error('broken');
      },
      () => identity(),
    ).authenticateToken('t', [], never);
    assert.deepEqual(result.kind === 'user' && result.user.groups, ['system:authenticated']);
    assert.equal(failures.length, 1);
  });

  it('logs once when a method fails, and when it has found a user again', async () => {
    failures.length = 0;
    let isBroken = true;
    const tried = union(() => {
      if (isBroken) throw new Error('broken');
      return identity();
    });
    for (let i = 0; i < 3; i++) await assert.rejects(async () => tried.authenticateToken('t', [], never));
    assert.equal(failures.length, 1);
    assert.deepEqual(recoveries, []);
    isBroken = false;
    for (let i = 0; i < 2; i++) await tried.authenticateToken('t', [], never);
    assert.deepEqual(recoveries, [{ failures: 3 }]);
  });

  it('does not reject a token that it could not check', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const asked = union(() => rejectedToken('a'), broken).authenticateToken('t', [], never);
    await assert.rejects(asked, (error) => error instanceof StatusError && error.code === 503);
  });

  it('reports every objection to a token, or that no method knew it', async () => {
    const refused = await union(
      () => rejectedToken('a'),
      () => ({ kind: 'none' }),
      () => rejectedToken('b'),
    ).authenticateToken('t', [], never);
    assert.deepEqual(refused, { kind: 'rejected', reason: 'a, b' });
    assert.equal((await union(() => ({ kind: 'none' })).authenticateToken('t', [], never)).kind, 'none');
  });
});
