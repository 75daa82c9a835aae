import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { TokenText } from '../token/token-text.js';
import { verifySignature } from './verify-signature.js';

const token = TokenText.parse('abcdef.0123456789abcdef') as TokenText;
const text = 'kind: Config\n';

function sign(header: unknown, key: string, hash = 'sha256', content = text): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  return `${head}..${createHmac(hash, key).update(`${head}.${payload}`).digest('base64url')}`;
}

const good = { alg: 'HS256', kid: 'abcdef' };
const verify = (signature: string, content = text) => verifySignature(signature, content, token);

describe('the signature of cluster-info', () => {
  it('is taken when made with the whole token or its secret part', () => {
    verify(sign(good, token.toString()));
    verify(sign(good, token.secret));
  });

  it('is refused when somebody else made it, or for another text', () => {
    const wrong = /it was made with another token$/;
    assert.throws(() => verify(sign(good, 'abcdef.0123456789abcdeX')), wrong);
    assert.throws(() => verify(sign(good, '')), wrong);
    assert.throws(() => verify(sign(good, token.id)), wrong);
    assert.throws(() => verify(sign(good, token.toString()), 'kind: Other\n'), wrong);
    assert.throws(() => verify(sign(good, token.toString()).slice(0, -4)), wrong);
  });

  it('is refused with any other algorithm, even if the key is right', () => {
    const other = /is not made with HS256$/;
    for (const alg of ['none', 'None', 'HS384', 'HS512', 'RS256', 'hs256', undefined, ['HS256']]) {
      assert.throws(() => verify(sign({ ...good, alg }, token.toString())), other, String(alg));
    }
    assert.throws(() => verify(sign({ ...good, alg: 'HS512' }, token.toString(), 'sha512')), other);
    const head = Buffer.from(JSON.stringify({ alg: 'none', kid: 'abcdef' })).toString('base64url');
    assert.throws(() => verify(`${head}..`), /is not a detached JWS$/);
  });

  it('is refused for another token id', () => {
    for (const kid of ['abcdeg', '', undefined, 'ABCDEF', ['abcdef']]) {
      assert.throws(() => verify(sign({ ...good, kid }, token.toString())), /is that of another token$/);
    }
  });

  it('is refused in another form', () => {
    const signature = sign(good, token.toString());
    const [head = '', , mac = ''] = signature.split('.');
    const payload = Buffer.from(text).toString('base64url');
    for (const form of ['', '..', head, `${head}.${payload}.${mac}`, `${signature}.`, `.${signature}`]) {
      assert.throws(() => verify(form), /is not a detached JWS|cannot be read/, form);
    }
    assert.throws(() => verify(`${signature}=`), /another token/);
    assert.throws(() => verify(`%%..${mac}`), /cannot be read/);
    assert.throws(() => verify(sign({ ...good, crit: ['b64'], b64: false }, token.toString())), /needs an extension/);
    assert.throws(() => verify(sign({ ...good, x: 'x'.repeat(2000) }, token.toString())), /cannot be read/);
  });

  it('never shows the secret of the token', () => {
    assert.throws(
      () => verify(sign(good, 'x')),
      (error: Error) => !error.message.includes(token.secret),
    );
  });
});
