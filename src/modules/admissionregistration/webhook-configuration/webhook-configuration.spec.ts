import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import {
  mutatingWebhookConfigurationResource,
  validatingWebhookConfigurationResource,
} from './webhook-configuration.resource.js';

const base = {
  name: 'a.b.c',
  clientConfig: { url: 'https://x/y' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

describe('webhook configurations', () => {
  const mutating = new DefinitionTester(mutatingWebhookConfigurationResource(testNames));
  const validating = new DefinitionTester(validatingWebhookConfigurationResource(testNames));
  const mutatingBeta = new DefinitionTester(mutatingWebhookConfigurationResource(testNames), 'v1beta1');
  const validatingBeta = new DefinitionTester(validatingWebhookConfigurationResource(testNames), 'v1beta1');
  const causes = (...webhooks: object[]) =>
    mutating.create({ webhooks: webhooks.map((w) => ({ ...base, ...w })) }).causes;
  const filled = {
    namespaceSelector: {},
    objectSelector: {},
  };

  it('fills the defaults of v1', () => {
    const webhook = {
      ...base,
      clientConfig: { service: { name: 's', namespace: 'n' } },
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    };
    const expected = {
      ...base,
      ...filled,
      clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
    };
    assert.deepEqual(validating.create({ webhooks: [webhook] }).object.webhooks, [expected]);
    const { object } = mutating.create({ webhooks: [webhook] });
    assert.deepEqual(object.webhooks, [{ ...expected, reinvocationPolicy: 'Never' }]);
    assert.deepEqual(mutating.cells(object), ['a', 1, '0s']);
    assert.equal(object.metadata.generation, 1);
  });

  it('fills the defaults of v1beta1', () => {
    const webhook = { name: base.name, clientConfig: base.clientConfig };
    const expected = {
      ...webhook,
      ...filled,
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      sideEffects: 'Unknown',
      timeoutSeconds: 30,
      admissionReviewVersions: ['v1beta1'],
    };
    assert.deepEqual(validatingBeta.create({ webhooks: [webhook] }).object.webhooks, [expected]);
    const { object, causes: found } = mutatingBeta.create({ webhooks: [webhook, webhook] });
    assert.deepEqual(found, []);
    assert.deepEqual((object.webhooks as object[])[1], { ...expected, reinvocationPolicy: 'Never' });
    assert.equal(object.apiVersion, 'admissionregistration.k8s.io/v1');
  });

  const at = 'webhooks[0]';
  const config = `${at}.clientConfig`;
  const url = (text: string) => ({ clientConfig: { url: text } });
  const service = (more: object) => ({ clientConfig: { service: { name: 's', namespace: 'n', ...more } } });
  const rule = (more: object) => ({
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], ...more }],
  });
  const urlForm = 'desired format: https://host[/path]';
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['no name', { name: '' }, [`FieldValueRequired | ${at}.name | Required value`]],
    [
      'short name',
      { name: 'a.b' },
      [
        `FieldValueInvalid | ${at}.name | Invalid value: "a.b": should be a domain with at least three segments separated by dots`,
      ],
    ],
    [
      'missing answers',
      { sideEffects: null, admissionReviewVersions: [] },
      [
        `FieldValueRequired | ${at}.sideEffects | Required value: must specify one of None, NoneOnDryRun`,
        `FieldValueRequired | ${at}.admissionReviewVersions | Required value: must specify one of v1, v1beta1`,
      ],
    ],
    [
      'enums',
      {
        sideEffects: 'Unknown',
        failurePolicy: 'x',
        matchPolicy: 'y',
        reinvocationPolicy: 'z',
        timeoutSeconds: 31,
      },
      [
        `FieldValueNotSupported | ${at}.failurePolicy | Unsupported value: "x": supported values: "Fail", "Ignore"`,
        `FieldValueNotSupported | ${at}.matchPolicy | Unsupported value: "y": supported values: "Equivalent", "Exact"`,
        `FieldValueNotSupported | ${at}.sideEffects | Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"`,
        `FieldValueInvalid | ${at}.timeoutSeconds | Invalid value: 31: the timeout value must be between 1 and 30 seconds`,
        `FieldValueNotSupported | ${at}.reinvocationPolicy | Unsupported value: "z": supported values: "IfNeeded", "Never"`,
      ],
    ],
    [
      'review versions',
      { admissionReviewVersions: ['v2', 'v2'] },
      [
        `FieldValueInvalid | ${at}.admissionReviewVersions[1] | Invalid value: "v2": duplicate version`,
        `FieldValueInvalid | ${at}.admissionReviewVersions | Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1`,
      ],
    ],
    [
      'selectors',
      { objectSelector: { matchExpressions: [{ key: 'a', operator: 'O' }] } },
      [
        `FieldValueInvalid | ${at}.objectSelector.matchExpressions[0].operator | Invalid value: "O": not a valid selector operator`,
      ],
    ],
    [
      'no client',
      { clientConfig: {} },
      [`FieldValueRequired | ${config} | Required value: exactly one of url or service is required`],
    ],
    ['URL with port', url('https://[::1]:8443/a?'), []],
    [
      'plain URL',
      url('http://x'),
      [`FieldValueInvalid | ${config}.url | Invalid value: "http": 'https' is the only allowed URL scheme; ${urlForm}`],
    ],
    [
      'no host',
      url('https:///y'),
      [`FieldValueInvalid | ${config}.url | Invalid value: "": host must be specified; ${urlForm}`],
    ],
    [
      'URL with everything',
      url('https://u:p@x/?q=1#f'),
      [
        `FieldValueInvalid | ${config}.url | Invalid value: "u:p": user information is not permitted in the URL`,
        `FieldValueInvalid | ${config}.url | Invalid value: "f": fragments are not permitted in the URL`,
        `FieldValueInvalid | ${config}.url | Invalid value: "q=1": query parameters are not permitted in the URL`,
      ],
    ],
    [
      'no URL at all',
      url('https://x y/'),
      [
        `FieldValueRequired | ${config}.url | Required value: url must be a valid URL: parse "https://x y/": invalid character " " in host name; ${urlForm}`,
      ],
    ],
    [
      'bad escape',
      url('https://x/%zz'),
      [
        `FieldValueRequired | ${config}.url | Required value: url must be a valid URL: parse "https://x/%zz": invalid URL escape "%zz"; ${urlForm}`,
      ],
    ],
    ['service path', service({ path: '/a/b/' }), []],
    [
      'service without names',
      service({ name: '', namespace: '', port: 70000 }),
      [
        `FieldValueRequired | ${config}.service.name | Required value`,
        `FieldValueRequired | ${config}.service.namespace | Required value`,
        `FieldValueInvalid | ${config}.service.port | Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
      ],
    ],
    [
      // Release 1.37 has the two places exchanged.
      'service without a namespace',
      service({ namespace: '' }),
      [`FieldValueRequired | ${config}.service.name | Required value`],
    ],
    ...(
      [
        [':a', 'missing protocol scheme'],
        ['https://a:b', 'invalid port ":b" after host'],
        ['\n', 'net/url: invalid control character in URL'],
      ] as const
    ).map(([address, fault]): [string, object, string[]] => [
      `URL ${JSON.stringify(address)}`,
      url(address),
      [
        `FieldValueRequired | ${config}.url | Required value: url must be a valid URL: parse ${JSON.stringify(address)}: ${fault}; ${urlForm}`,
      ],
    ]),
    [
      'relative service path',
      service({ path: 'a' }),
      [
        `FieldValueInvalid | ${config}.service.path | Invalid value: "a": must start with a '/'`,
        `FieldValueInvalid | ${config}.service.path | Invalid value: "a": segment[0] may not be empty`,
      ],
    ],
    [
      'empty rule',
      { rules: [{}] },
      ['operations', 'apiGroups', 'apiVersions', 'resources'].map(
        (f) => `FieldValueRequired | ${at}.rules[0].${f} | Required value`,
      ),
    ],
    [
      'wildcards and more',
      rule({
        operations: ['*', 'X'],
        apiGroups: ['', '*'],
        apiVersions: ['', '*'],
        resources: ['', '*', 'pods'],
        scope: 'x',
      }),
      [
        `FieldValueInvalid | ${at}.rules[0].operations | Invalid value: ["*","X"]: if '*' is present, must not specify other operations`,
        `FieldValueNotSupported | ${at}.rules[0].operations[1] | Unsupported value: "X": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
        `FieldValueInvalid | ${at}.rules[0].apiGroups | Invalid value: ["","*"]: if '*' is present, must not specify other API groups`,
        `FieldValueInvalid | ${at}.rules[0].apiVersions | Invalid value: ["","*"]: if '*' is present, must not specify other API versions`,
        `FieldValueRequired | ${at}.rules[0].apiVersions[0] | Required value`,
        `FieldValueRequired | ${at}.rules[0].resources[0] | Required value`,
        `FieldValueInvalid | ${at}.rules[0].resources | Invalid value: ["","*","pods"]: if '*' is present, must not specify other resources without subresources`,
        `FieldValueNotSupported | ${at}.rules[0].scope | Unsupported value: "x": supported values: "*", "Cluster", "Namespaced"`,
      ],
    ],
    [
      'covered subresources',
      rule({ resources: ['pods/*', '*/status', 'pods/status'] }),
      [
        `FieldValueInvalid | ${at}.rules[0].resources[2] | Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`,
        `FieldValueInvalid | ${at}.rules[0].resources[2] | Invalid value: "pods/status": if '*/status' is present, must not specify pods/status`,
      ],
    ],
    [
      'match conditions',
      { matchConditions: [{ name: 'a', expression: 'true' }, { name: 'a', expression: ' ' }, { expression: '1' }] },
      [
        `FieldValueRequired | ${at}.matchConditions[1].expression | Required value`,
        `FieldValueDuplicate | ${at}.matchConditions[1].name | Duplicate value: "a"`,
        `FieldValueInvalid | ${at}.matchConditions[2].expression | Invalid value: "1": must evaluate to bool but got int`,
        `FieldValueRequired | ${at}.matchConditions[2].name | Required value`,
      ],
    ],
  ];
  for (const [name, webhook, expected] of cases) {
    it(`judges ${name}`, () => assert.deepEqual(causes(webhook), expected));
  }

  it('wants each name once in v1', () => {
    assert.deepEqual(causes({}, {}), ['FieldValueDuplicate | webhooks[1].name | Duplicate value: "a.b.c"']);
  });

  it('accepts in v1beta1 what v1 refuses, and keeps accepting it on update', () => {
    const { object, causes: found } = mutatingBeta.create({
      webhooks: [
        { ...base, sideEffects: 'Some' },
        { ...base, sideEffects: 'Foo' },
      ],
    });
    assert.deepEqual(found, [
      'FieldValueNotSupported | webhooks[1].sideEffects | Unsupported value: "Foo": supported values: "None", "NoneOnDryRun", "Some", "Unknown"',
    ]);
    const stored = mutatingBeta.create({ webhooks: [{ ...base, sideEffects: 'Some' }, base] }).object;
    const relabelled = mutating.patch(stored, { metadata: { labels: { a: 'b' } } });
    assert.deepEqual(relabelled.causes, []);
    assert.equal(relabelled.object.metadata.generation, 1);
    const fresh = mutating.create({ webhooks: [base] }).object;
    assert.equal(mutating.patch(fresh, { webhooks: [base, base] }).causes.length, 1);
    assert.equal(mutating.patch(fresh, { webhooks: [] }).object.metadata.generation, 2);
    assert.equal(object.metadata.generation, 1);
  });
});
