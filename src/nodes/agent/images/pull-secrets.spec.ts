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
});
