import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TokenResult } from '../token-authenticator.js';
import { bearerToken } from './bearer-token.js';
import { TokenFileAuthenticator } from './token-file.authenticator.js';

const file = `
# comment
secret1,alice,alice-uid,"devs,ops"
secret2, bob , bob-uid
"quo""ted",carol,c
`;

function ask(token: string, asked: readonly string[] = ['api']): TokenResult {
  return TokenFileAuthenticator.fromText(file, ['api']).authenticateToken(token, asked);
}

describe('TokenFileAuthenticator', () => {
  it('knows users by their token', () => {
    const alice = ask('secret1');
    assert.equal(alice.kind, 'user');
    assert.deepEqual(alice.kind === 'user' && alice.user.groups, ['devs', 'ops']);
    const bob = ask('secret2');
    assert.equal(bob.kind === 'user' && bob.user.name, 'bob');
    const carol = ask('quo"ted');
    assert.equal(carol.kind === 'user' && carol.user.uid, 'c');
  });

  it('removes only surrounding spaces and tabs from a name', () => {
    const text = 'a, \u00a0bob\u3000 ,\ufeffuid\t,"system:masters\u3000, ops"';
    const result = TokenFileAuthenticator.fromText(text, ['api']).authenticateToken('a', ['api']);
    assert.ok(result.kind === 'user');
    const { name, uid, groups } = result.user;
    assert.deepEqual([name, uid, groups], ['\u00a0bob\u3000', '\ufeffuid', ['system:masters\u3000', 'ops']]);
  });

  it('refuses invalid UTF-8, and skips a byte order mark', () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-tokens-'));
    const path = join(directory, 'tokens.csv');
    try {
      writeFileSync(path, Buffer.from('a,b\xff,c', 'latin1'));
      assert.throws(() => TokenFileAuthenticator.fromFile(path, []), /not in UTF-8/);
      writeFileSync(path, '\ufeffa,b,c');
      assert.equal(TokenFileAuthenticator.fromFile(path, ['api']).authenticateToken('a', ['api']).kind, 'user');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('leaves unknown tokens to other methods', () => {
    assert.equal(ask('nope').kind, 'none');
    assert.equal(ask('secret').kind, 'none');
  });

  it('is for the audiences of this server', () => {
    const both = ask('secret1', ['other', 'api']);
    assert.deepEqual(both.kind === 'user' && both.audiences, ['api']);
    assert.equal(ask('secret1', ['other']).kind, 'none');
  });

  it('reads the token of the header whatever the case of the scheme', () => {
    assert.equal(bearerToken('Bearer a'), 'a');
    assert.equal(bearerToken(' bearer  a '), 'a');
    assert.equal(bearerToken('BEARER a b'), 'a b');
    for (const header of [undefined, 'Basic a', 'Bearer', 'Bearer ', 'Bearera', 'Bearer\ta', 'a', ''])
      assert.equal(bearerToken(header), undefined);
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
