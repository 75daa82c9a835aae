import assert from 'node:assert/strict';
import { it } from 'node:test';
import { noNames } from './identity-fields.js';
import { PublishedIdentity } from './published-identity.js';

function identityOver(answers: (string[] | Error | undefined)[]) {
  const state = { now: 0, reads: 0, faults: 0 };
  const identity = new PublishedIdentity({
    own: { ...noNames, uids: ['X-Own-Uid'] },
    read: () => {
      state.reads++;
      const answer = answers.shift();
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve(answer && { ...noNames, users: answer });
    },
    onFault: () => state.faults++,
    elapsed: () => state.now,
  });
  return { identity, state };
}

it('is read before the first use, then now and then, without waiting', async () => {
  const { identity, state } = identityOver([['X-A'], ['X-B']]);
  const users = async () => (await identity.get()).user;
  assert.deepEqual(await Promise.all([users(), users()]), ['x-a', 'x-a']);
  state.now = 9_999;
  assert.equal(await users(), 'x-a');
  assert.equal(state.reads, 1);
  state.now = 10_000;
  assert.equal(await users(), 'x-a');
  await Promise.resolve();
  assert.equal(await users(), 'x-b');
  assert.equal((await identity.get()).uid, 'x-own-uid');
  assert.equal(state.reads, 2);
});

it('stays as it was read when it can not be read again', async () => {
  const { identity, state } = identityOver([new Error('away'), ['X-A'], new Error('away')]);
  assert.equal((await identity.get()).user, 'x-remote-user');
  assert.equal((await identity.get()).user, 'x-a');
  state.now = 20_000;
  await identity.get();
  await Promise.resolve();
  assert.equal((await identity.get()).user, 'x-a');
  assert.deepEqual([state.reads, state.faults], [3, 2]);
});
