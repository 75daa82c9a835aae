import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuthenticationRequest } from '../authenticator.js';
import { TokenFileAuthenticator } from './token-file.authenticator.js';

const file = `
# comment
secret1,alice,alice-uid,"devs,ops"
secret2, bob , bob-uid
"quo""ted",carol,c
`;

function ask(authorization: string | undefined) {
  const request = { authorization, headers: {}, socket: {} } as AuthenticationRequest;
  return TokenFileAuthenticator.fromText(file).authenticate(request);
}

describe('TokenFileAuthenticator', () => {
  it('knows users by their token', () => {
    const alice = ask('Bearer secret1');
    assert.equal(alice.kind, 'user');
    assert.deepEqual(alice.kind === 'user' && alice.user.groups, ['devs', 'ops']);
    const bob = ask('bearer secret2');
    assert.equal(bob.kind === 'user' && bob.user.name, 'bob');
    const carol = ask('Bearer quo"ted');
    assert.equal(carol.kind === 'user' && carol.user.uid, 'c');
  });

  it('rejects unknown tokens and ignores other schemes', () => {
    assert.equal(ask('Bearer nope').kind, 'rejected');
    assert.equal(ask('Bearer secret').kind, 'rejected');
    assert.equal(ask('Basic secret1').kind, 'none');
    assert.equal(ask('Bearer').kind, 'none');
    assert.equal(ask('Bearer a b').kind, 'none');
    assert.equal(ask(undefined).kind, 'none');
  });

  for (const line of ['tok', 'tok,name', ',name,uid', 'tok,,uid', '"tok,name,uid', '"a"b,name,uid']) {
    it(`refuses a file with the line ${line} without repeating it`, () => {
      assert.throws(
        () => TokenFileAuthenticator.fromText(line),
        (e: Error) => /line 1/.test(e.message) && !e.message.includes(`${'tok'.repeat(1)},`),
      );
    });
  }
});
