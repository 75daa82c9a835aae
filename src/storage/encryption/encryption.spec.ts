import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { failsWith } from '../testing/storage-helpers.js';
import { Encryption } from './encryption.js';
import type { Provider } from './provider.js';
import { AesCbcProvider } from './providers/aes-cbc-provider.js';
import { AesGcmProvider } from './providers/aes-gcm-provider.js';
import { SecretBoxProvider } from './providers/secret-box-provider.js';
import { plainSealing } from './sealing.js';

const key = { resource: 'secrets', namespace: 'default', name: 'db' };
const json = JSON.stringify({ data: { password: 'c2VjcmV0' }, note: 'ä😀' });

const makers: Readonly<Record<string, (name?: string) => Provider>> = {
  'AES-GCM, 16 bytes': (name = 'k') => new AesGcmProvider(name, randomBytes(16)),
  'AES-GCM, 24 bytes': (name = 'k') => new AesGcmProvider(name, randomBytes(24)),
  'AES-GCM, 32 bytes': (name = 'k') => new AesGcmProvider(name, randomBytes(32)),
  'AES-CBC, 16 bytes': (name = 'k') => new AesCbcProvider(name, randomBytes(16)),
  'AES-CBC, 32 bytes': (name = 'k') => new AesCbcProvider(name, randomBytes(32)),
  secretbox: (name = 'k') => new SecretBoxProvider(name, randomBytes(32)),
};

function encryption(...providers: (Provider | 'identity')[]): Encryption {
  return new Encryption([{ resources: ['secrets'], providers }]);
}

for (const [name, make] of Object.entries(makers)) {
  describe(name, () => {
    it('gives back what it sealed, never seals alike, and shows nothing', () => {
      const own = encryption(make());
      const [first, second] = [own.seal(key, json), own.seal(key, json)];
      assert.notEqual(first, second);
      assert.equal(own.open(key, first), json);
      assert.equal(own.open(key, second), json);
      assert.equal(JSON.parse(first).startsWith('enc:'), true);
      assert.ok(!Buffer.from(first.split(':')[3] as string, 'base64').includes('password'));
      for (const text of ['0', '"x"', JSON.stringify('x'.repeat(14)), JSON.stringify('x'.repeat(1_000_000))]) {
        assert.equal(own.open(key, own.seal(key, text)), text);
      }
    });

    it('refuses a text of which any byte changed, or that was cut', () => {
      const provider = make();
      const context = Buffer.from('here');
      const sealed = provider.seal(Buffer.from('{}'), context);
      assert.equal(provider.open(sealed, context).toString(), '{}');
      for (let i = 0; i < sealed.length; i++) {
        const changed = Buffer.from(sealed);
        changed[i] = (changed[i] as number) ^ 1;
        assert.throws(() => provider.open(changed, context), `byte ${i}`);
        assert.throws(() => provider.open(sealed.subarray(0, i), context), `the first ${i} bytes`);
      }
      assert.throws(() => provider.open(Buffer.concat([sealed, Buffer.alloc(16)]), context));
    });

    it('refuses a text in the place of another object, and under another key', () => {
      const own = encryption(make());
      const sealed = own.seal(key, json);
      for (const other of [
        { ...key, name: 'other' },
        { ...key, namespace: 'other' },
      ]) {
        assert.throws(() => own.open(other, sealed), failsWith('Unreadable'));
      }
      assert.throws(() => encryption(make()).open(key, sealed), failsWith('Unreadable'));
    });
  });
}

describe('Encryption', () => {
  const [older, newer] = [
    new AesGcmProvider('key:1"', randomBytes(32)),
    new SecretBoxProvider('key2', randomBytes(32)),
  ];

  it('writes with the first provider, reads with all, and knows what is outdated', () => {
    const before = encryption(older, 'identity').seal(key, json);
    const own = encryption(newer, older);
    assert.equal(own.open(key, before), json);
    assert.equal(own.isOutdated(key, before), true);
    const after = own.seal(key, json);
    assert.equal(own.isOutdated(key, after), false);
    assert.equal(encryption(older, newer).isOutdated(key, after), true);
    assert.throws(() => encryption(older).open(key, after), failsWith('Unreadable'));
  });

  it('reads and writes plain texts only where identity says so', () => {
    assert.equal(encryption('identity', older).seal(key, json), json);
    assert.equal(encryption(older, 'identity').open(key, json), json);
    assert.equal(encryption(older, 'identity').isOutdated(key, json), true);
    assert.equal(encryption('identity', older).isOutdated(key, json), false);
    assert.equal(encryption('identity', older).isOutdated(key, encryption(older).seal(key, json)), true);
    assert.throws(() => encryption(older).open(key, json), failsWith('Unreadable'));
  });

  it('leaves resources alone that it does not name, and refuses their encrypted texts', () => {
    const own = encryption(older);
    const pod = { ...key, resource: 'pods' };
    assert.equal(own.seal(pod, json), json);
    assert.equal(own.open(pod, json), json);
    assert.equal(own.isOutdated(pod, json), false);
    const sealed = own.seal(key, json);
    assert.throws(() => own.open(pod, sealed), failsWith('Unreadable'));
    assert.throws(() => plainSealing.open(key, sealed), failsWith('Unreadable'));
  });

  it('takes resources by name, by group and all, the first that fits, but never namespaces', () => {
    const all = new Encryption([
      { resources: ['secrets'], providers: [older] },
      { resources: ['*.example.com', '*.'], providers: [newer] },
      { resources: ['*.*'], providers: ['identity'] },
    ]);
    const wayOf = (resource: string) => /^"enc:(\w+)/.exec(all.seal({ ...key, resource }, json))?.[1];
    assert.equal(wayOf('secrets'), 'aesgcm');
    assert.equal(wayOf('things.example.com'), 'secretbox');
    assert.equal(wayOf('configmaps'), 'secretbox');
    assert.equal(wayOf('things.sub.example.com'), undefined);
    assert.equal(wayOf('namespaces'), undefined);
  });

  it('refuses texts of unknown forms', () => {
    const own = encryption(older);
    for (const stored of ['"enc:"', '"enc:a:b:*"', '"enc:a:b"', '"enc:a:b:c"x', '"enc:aesgcm:nokey:AAAA"']) {
      assert.throws(() => own.open(key, stored), failsWith('Unreadable'), stored);
    }
  });
});
