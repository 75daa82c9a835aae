import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseImageName } from './image-names.js';
import { pullCredentials } from './pull-secrets.js';

describe('images', () => {
  it('are named by registry, repository, tag and digest', () => {
    assert.deepEqual(parseImageName('busybox'), {
      registry: 'docker.io',
      repository: 'library/busybox',
      tag: undefined,
      digest: undefined,
    });
    assert.equal(parseImageName('localhost:5000/a/b:1')?.registry, 'localhost:5000');
    for (const text of ['', 'UPPER', 'a b', 'a:::b', 'a@sha256:12'])
      assert.equal(parseImageName(text), undefined, text);
  });

  it('have the credentials of the secret that fits best', () => {
    const auths = {
      'https://index.docker.io/v1/': { auth: Buffer.from('u:p').toString('base64') },
      '*.example.com': { username: 'w', password: 'x' },
    };
    const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
    assert.equal(pullCredentials('busybox', [{ data }] as never)[0]?.username, 'u');
    assert.equal(pullCredentials('r.example.com/a', [{ data }] as never)[0]?.password, 'x');
    assert.deepEqual(pullCredentials('evil.com/r.example.com', [{ data }] as never), []);
  });

  it('have no credentials of secrets with nonsense, which holds up nobody', { timeout: 120_000 }, () => {
    const of = (auths: unknown, image = 'r.example.com/a') => {
      const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
      return pullCredentials(image, [{ data }] as never);
    };
    assert.deepEqual(of(null), []);
    const empty = { username: '', password: '', identityToken: '', serverAddress: 'r.example.com' };
    for (const entry of [null, 1, 'x', [], { auth: 1, username: {}, password: [] }])
      assert.deepEqual(of({ 'r.example.com': entry }), [empty], JSON.stringify(entry));
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`r${'*'.repeat(i)}.example.com`, {}]));
    assert.equal(of(many).length, 20, 'others wait for their images while all of them are tried');
    const label = 'a'.repeat(60);
    assert.equal(of({ [`${'*a'.repeat(30)}*b.example.com`]: {} }, `${label}.example.com/a`).length, 0);
    assert.equal(of({ [`${'*a'.repeat(30)}*.example.com`]: {} }, `${label}.example.com/a`).length, 1);
    for (const [pattern, isMatch] of [
      ['r*.example.com', true],
      ['*r.example.com', true],
      ['*.*.com', true],
      ['r*r.example.com', false],
      ['*x*.example.com', false],
      ['*.com', false],
    ] as const)
      assert.equal(of({ [pattern]: {} }).length, Number(isMatch), pattern);
  });
});
