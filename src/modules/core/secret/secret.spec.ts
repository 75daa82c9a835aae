import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { secretResource } from './secret.resource.js';

const tester = new DefinitionTester(secretResource(testNames));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const prefix = testNames.secretTypePrefix;
const redacted = 'Invalid value: "<secret contents redacted>": ';

/** A bootstrap token in the namespace of bootstrap tokens. */
function token(entries: Record<string, string>): Record<string, unknown> {
  return {
    metadata: { name: 'bootstrap-token-abcdef', namespace: testNames.systemNamespace },
    type: testNames.bootstrapTokenSecretType,
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', ...entries },
  };
}

describe('secrets', () => {
  it('are opaque, with text moved into data', () => {
    const { object, causes } = tester.create({ data: { a: base64('1') }, stringData: { a: '2', b: '3' } });
    assertCauses(causes, []);
    assert.equal(object.type, 'Opaque');
    assert.deepEqual(object.data, { a: base64('2'), b: base64('3') });
    assert.equal(object.stringData, undefined);
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    ['a key with a slash', { data: { 'a/b': '' } }, ['Invalid | data[a/b] | Invalid value: "a/b": a valid config key']],
    [
      'too much data',
      { data: { a: base64('x'.repeat(1024 * 1024 + 1)) } },
      ['TooLong | data | Too long: may not be more than 1048576 bytes'],
    ],
    [
      'a service account token without its account',
      { type: testNames.serviceAccountTokenSecretType },
      [`Required | metadata.annotations[${testNames.serviceAccountNameAnnotation}] | Required value`],
    ],
    [
      'half a key pair',
      { type: `${prefix}/tls`, stringData: { 'tls.crt': '' } },
      ['Required | data[tls.key] | Required value'],
    ],
    [
      'basic auth without user and password',
      { type: `${prefix}/basic-auth` },
      ['Required | data[username] | Required value', 'Required | data[password] | Required value'],
    ],
    ['ssh auth without a key', { type: `${prefix}/ssh-auth` }, ['Required | data[ssh-privatekey] | Required value']],
    ['no registry logins', { type: `${prefix}/dockercfg` }, ['Required | data[.dockercfg] | Required value']],
    [
      'cut registry logins',
      { type: `${prefix}/dockerconfigjson`, stringData: { '.dockerconfigjson': '{"a":{' } },
      [`Invalid | data[.dockerconfigjson] | ${redacted}unexpected end of JSON input`],
    ],
    [
      'garbled registry logins',
      { type: `${prefix}/dockercfg`, stringData: { '.dockercfg': '}' } },
      [`Invalid | data[.dockercfg] | ${redacted}invalid JSON`],
    ],
    [
      'a bootstrap token without its parts',
      { ...token({}), stringData: {} },
      ['Required | data[token-id] | Required value', 'Required | data[token-secret] | Required value'],
    ],
    [
      'a bootstrap token of another form',
      token({ 'token-id': 'ABCDEF', 'token-secret': 'hunter2' }),
      [
        'Invalid | data[token-id] | Invalid value: "ABCDEF": must be 6 characters',
        `Invalid | data[token-secret] | ${redacted}must be 16 characters`,
      ],
    ],
    [
      'a bootstrap token under another name',
      token({ 'token-id': 'abcde0' }),
      ['Invalid | metadata.name | Invalid value: "bootstrap-token-abcdef": must be bootstrap-token-abcde0'],
    ],
    [
      'a bootstrap token with entries that nobody understands',
      token({
        expiration: 'tomorrow',
        'usage-bootstrap-authentication': 'yes',
        'auth-extra-groups': 'system:bootstrappers:a,system:masters,system:bootstrappers:',
      }),
      [
        'Invalid | data[expiration] | Invalid value: "tomorrow": must be a time as in RFC 3339',
        'NotSupported | data[usage-bootstrap-authentication] | Unsupported value: "yes": supported values: "true"',
        'Invalid | data[auth-extra-groups] | Invalid value: "system:masters": must begin with system:bootstrappers:',
        'Invalid | data[auth-extra-groups] | Invalid value: "system:bootstrappers:": must begin with',
      ],
    ],
    [
      'a list of registry logins',
      { type: `${prefix}/dockercfg`, stringData: { '.dockercfg': '[]' } },
      [`Invalid | data[.dockercfg] | ${redacted}json: cannot unmarshal array into Go value`],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuses ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  const good: [string, Record<string, unknown>][] = [
    ['a type of its own', { type: 'example.com/x' }],
    ['basic auth with a password only', { type: `${prefix}/basic-auth`, stringData: { password: 'p' } }],
    ['a key pair', { type: `${prefix}/tls`, stringData: { 'tls.crt': '', 'tls.key': '' } }],
    ['registry logins', { type: `${prefix}/dockercfg`, stringData: { '.dockercfg': '{}' } }],
    ['an entry that is null', { data: { a: null } }],
    [
      'anything as a bootstrap token where nobody looks for tokens',
      { type: testNames.bootstrapTokenSecretType, stringData: { 'token-id': 'x' } },
    ],
    ['a bootstrap token', token({})],
    [
      'a bootstrap token with everything',
      token({
        description: 'for the racks in the cellar',
        expiration: '2031-01-01T00:00:00Z',
        'usage-bootstrap-authentication': 'true',
        'usage-bootstrap-signing': 'false',
        'auth-extra-groups': 'system:bootstrappers:a,system:bootstrappers:b:c-d',
      }),
    ],
  ];
  for (const [name, body] of good) it(`takes ${name}`, () => assertCauses(tester.create(body).causes, []));

  it('keep their type', () => {
    const { object } = tester.create({});
    assertCauses(tester.patch(object, { type: 'a/b' }).causes, [
      'Invalid | type | Invalid value: "a/b": field is immut',
    ]);
  });

  it('keep their entries once immutable', () => {
    const fixed = 'Forbidden: field is immutable when `immutable` is set';
    const { object } = tester.create({ immutable: true, stringData: { a: 'b' } });
    assertCauses(tester.patch(object, { stringData: { a: 'c' } }).causes, [`Forbidden | data | ${fixed}`]);
    assertCauses(tester.patch(object, { immutable: false }).causes, [`Forbidden | immutable | ${fixed}`]);
  });

  it('never show values in tables', () => {
    const { object } = tester.create({ stringData: { a: 'hidden' } });
    assert.deepEqual(tester.cells(object, 7), ['a', 'Opaque', 1, '7s']);
  });
});
