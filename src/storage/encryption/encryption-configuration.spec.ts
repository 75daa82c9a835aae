import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { readEncryptionConfiguration } from './encryption-configuration.js';

const folder = mkdtempSync(join(tmpdir(), 'plinth-encryption-'));
const file = join(folder, 'config.yaml');
after(() => rmSync(folder, { recursive: true }));

const secret = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
const head = { kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.example.org/v1' };

function read(value: unknown) {
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return readEncryptionConfiguration(file, 'example.org');
}

function problems(value: unknown): string[] {
  try {
    read(value);
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replace(`${file}: `, ''));
  }
  return [];
}

function entry(providers: unknown, resources: unknown = ['secrets']) {
  return { ...head, resources: [{ resources, providers }] };
}

const key = { name: 'key1', secret: secret(32) };

it('reads every provider', () => {
  const kms = { apiVersion: 'v2', name: 'vault', endpoint: 'unix:///run/kms.sock', timeout: '1.5s' };
  const providers = [
    { aesgcm: { keys: [key, { name: 'key2', secret: secret(16) }] } },
    { aescbc: { keys: [key] } },
    { secretbox: { keys: [key] } },
    { kms },
    { identity: {} },
  ];
  const [own] = read(entry(providers, ['secrets', 'things.example.com', '*.apps', '*.']));
  assert.deepEqual(own?.resources, ['secrets', 'things.example.com', '*.apps', '*.']);
  const long = { name: 'key1', secret: Buffer.alloc(32, 7) };
  assert.deepEqual(own?.providers, [
    { kind: 'aesgcm', keys: [long, { name: 'key2', secret: Buffer.alloc(16, 7) }] },
    { kind: 'aescbc', keys: [long] },
    { kind: 'secretbox', keys: [long] },
    { kind: 'kms', kms: { name: 'vault', socket: '/run/kms.sock', timeoutMs: 1_500 } },
    { kind: 'identity' },
  ]);
});

it('names everything that is wrong, and never quotes a key', () => {
  const bad = {
    kind: 'Encryption',
    apiVersion: 'v1',
    more: 1,
    resources: [
      { resources: [], providers: [] },
      { resources: ['secrets', '*', 'pods/log', 'Pods', 'a.*', 'namespaces', 3], providers: [{}], other: 1 },
      {
        resources: ['*.*'],
        providers: [
          { aesgcm: { keys: [] } },
          { aescbc: { keys: [{ name: '', secret: key.secret }, { name: 'a', secret: '!!' }, 'x'] } },
          { secretbox: { keys: [{ name: 'short', secret: secret(16) }], size: 1 } },
          { kms: { name: 'a:b', endpoint: 'https://kms', timeout: 'soon', cachesize: 3 } },
          { aesgcm: { keys: [key] }, identity: {} },
          { identity: { a: 1 } },
          { rot13: {} },
        ],
      },
      { resources: ['configmaps'], providers: [{ identity: {} }] },
    ],
  };
  assert.deepEqual(problems(bad), [
    'kind must be EncryptionConfiguration',
    'apiVersion must be apiserver.config.example.org/v1',
    'unknown field more',
    'resources[0].resources must name at least one resource',
    'resources[0].providers must have at least one provider',
    'unknown field resources[1].other',
    'resources[1].resources[1] must be *.* for all resources, or *.group',
    'resources[1].resources[2] names a subresource, which is not stored',
    'resources[1].resources[3] must be in lower case',
    'resources[1].resources[4] may have * only as *.* or *.group',
    "resources[1].resources[5] names namespaces, which the database has to read and which can't be encrypted",
    'resources[1].resources[6] must be a name',
    'resources[1].providers[0] must have one of aesgcm, aescbc, secretbox, kms, identity',
    'resources[2].providers[0].aesgcm.keys must have at least one key',
    'resources[2].providers[1].aescbc.keys[0].name must be set',
    'resources[2].providers[1].aescbc.keys[1].secret must be in base64',
    'resources[2].providers[1].aescbc.keys[2] must be an object',
    'unknown field resources[2].providers[2].secretbox.size',
    'resources[2].providers[2].secretbox.keys[0].secret must have 32 bytes, not 16',
    'resources[2].providers[3].kms.apiVersion must be v2: version 1 is not spoken any more',
    'resources[2].providers[3].kms.cachesize belongs to version 1',
    'resources[2].providers[3].kms.name must be set, without a colon',
    'resources[2].providers[3].kms.endpoint must be unix:// and the absolute path of a socket',
    'resources[2].providers[3].kms.timeout must be a time above 0, such as 3s',
    'resources[2].providers[4] must have one of aesgcm, aescbc, secretbox, kms, identity',
    'unknown field resources[2].providers[5].identity.a',
    'unknown field resources[2].providers[6].rot13',
    'resources[2].providers[6] must have one of aesgcm, aescbc, secretbox, kms, identity',
    'resources[3] names configmaps, which *.* before it covers already',
  ]);
});

it('refuses two keys of one name, and names that others cover', () => {
  const twice = [{ aesgcm: { keys: [key] } }, { aesgcm: { keys: [key] } }, { identity: {} }, { identity: {} }];
  assert.deepEqual(problems(entry(twice)), [
    'resources[0].providers has aesgcm key1 twice',
    'resources[0].providers has identity twice',
  ]);
  const plain = [{ identity: {} }];
  for (const [names, problem] of [
    [['secrets', 'secrets'], 'names secrets, which secrets'],
    [['*.apps', 'deployments.apps'], 'names deployments.apps, which *.apps'],
    [['*.', 'secrets'], 'names secrets, which *.'],
    [['*.*', '*.apps'], 'names *.apps, which *.*'],
  ] as const) {
    assert.deepEqual(problems(entry(plain, names)), [`resources[0] ${problem} before it covers already`]);
  }
});

it('refuses files that are no configuration', () => {
  assert.match(problems('a: [')[0] ?? '', /neither YAML nor JSON/);
  assert.match(problems('- a')[0] ?? '', /must be an object/);
  assert.deepEqual(problems({ ...head }), ['resources must have at least one entry']);
  assert.deepEqual(problems({ ...head, resources: {} }), [
    'resources must be a list',
    'resources must have at least one entry',
  ]);
  assert.match(problems({ ...head, resources: ['x'] }).join(), /resources\[0\] must be an object/);
  assert.throws(() => readEncryptionConfiguration(join(folder, 'none'), 'example.org'), /can't be read/);
});
