import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { flowSchemaResource } from './flow-schema.resource.js';

describe('FlowSchema', () => {
  const tester = new DefinitionTester(flowSchemaResource(testNames));
  const level = { priorityLevelConfiguration: { name: 'x' } };
  const subjects = [{ kind: 'User', user: { name: 'u' } }];
  const nonResourceRules = [{ verbs: ['get'], nonResourceURLs: ['/'] }];
  const schema = (name: string, spec: object) => tester.create({ metadata: { name }, spec: { ...level, ...spec } });
  const causes = (spec: object) => schema('a', spec).causes;
  /** Causes below the first rule, without their reasons. */
  const ruleCauses = (rule: object) =>
    causes({ rules: [rule] }).map((cause) => cause.split(' | ').slice(1).join(' | ').replace('spec.rules[0].', ''));

  it('has a precedence, and shows its content', () => {
    const { object } = schema('a', { distinguisherMethod: { type: 'ByUser' } });
    assert.equal((object.spec as { matchingPrecedence: number }).matchingPrecedence, 1000);
    assert.equal(object.metadata.generation, 1);
    assert.deepEqual(object.status, {});
    assert.deepEqual(tester.cells(object), ['a', 'x', 1000, 'ByUser', '0s', '?']);
    const conditions = [{ type: 'Dangling', status: 'True', lastTransitionTime: null }];
    const written = tester.patch(object, { status: { conditions }, spec: { matchingPrecedence: 7 } }, 'status');
    assert.deepEqual(tester.cells(written.object), ['a', 'x', 1000, 'ByUser', '0s', 'True']);
    assert.equal(tester.patch(object, { spec: { matchingPrecedence: 7 } }).object.metadata.generation, 2);
  });

  const specCases: readonly (readonly [object, readonly string[]])[] = [
    [{ rules: [{ subjects, nonResourceRules }] }, []],
    [
      { priorityLevelConfiguration: { name: '' } },
      ['FieldValueRequired | spec.priorityLevelConfiguration.name | Required value: must reference a priority level'],
    ],
    [
      { matchingPrecedence: -1 },
      ['FieldValueInvalid | spec.matchingPrecedence | Invalid value: -1: must be a positive value'],
    ],
    [
      { matchingPrecedence: 10001 },
      ['FieldValueInvalid | spec.matchingPrecedence | Invalid value: 10001: must not be greater than 10000'],
    ],
    [
      { matchingPrecedence: 1 },
      [
        "FieldValueInvalid | spec.matchingPrecedence | Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      ],
    ],
    [
      { distinguisherMethod: { type: 'x' } },
      [
        'FieldValueNotSupported | spec.distinguisherMethod.type | Unsupported value: {"Type":"x"}: supported values: "ByNamespace", "ByUser"',
      ],
    ],
    [
      { rules: [{}] },
      [
        'FieldValueRequired | spec.rules[0].subjects | Required value: subjects must contain at least one value',
        'FieldValueRequired | spec.rules[0] | Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
      ],
    ],
  ];
  for (const [spec, expected] of specCases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(causes(spec), expected);
      const { object } = schema('a', {});
      assert.deepEqual(tester.patch(object, { spec }).causes, expected);
    });
  }

  const account = (name: string, namespace: string) => ({
    kind: 'ServiceAccount',
    serviceAccount: { name, namespace },
  });
  const subjectCases: readonly (readonly [object, readonly RegExp[]])[] = [
    [account('*', 'n'), []],
    [{ kind: 'Group', group: { name: '*' } }, []],
    [
      { kind: 'Group', user: { name: 'x' } },
      [
        /^subjects\[0\]\.group \| Required value: group is required when subject kind is 'Group'$/,
        /^subjects\[0\]\.user \| Forbidden: user is forbidden when subject kind is not 'User'$/,
      ],
    ],
    [
      { kind: 'ServiceAccount', serviceAccount: {} },
      [
        /^subjects\[0\]\.serviceAccount\.name \| Required value$/,
        /^subjects\[0\]\.serviceAccount\.namespace \| Required value: must specify namespace for service account$/,
      ],
    ],
    [
      account('A', '*'),
      [/serviceAccount\.name \| Invalid value: "A": a lowercase RFC 1123 subdomain/, /namespace \| .*RFC 1123 label/],
    ],
    [{ kind: 'User', user: { name: '' } }, [/^subjects\[0\]\.user\.name \| Required value$/]],
    [
      { kind: 'toString', user: { name: 'x' } },
      [/^subjects\[0\]\.kind \| Unsupported value: "toString": supported values: "Group", "ServiceAccount", "User"$/],
    ],
  ];
  for (const [subject, expected] of subjectCases) {
    it(`judges the subject ${JSON.stringify(subject)}`, () => {
      const found = ruleCauses({ subjects: [subject], nonResourceRules });
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(found[i] as string, pattern);
    });
  }

  const resourceRule = { verbs: ['get'], apiGroups: ['a'], resources: ['b'], namespaces: ['n'] };
  const resourceCases: readonly (readonly [object, string | undefined])[] = [
    [resourceRule, undefined],
    [{ ...resourceRule, namespaces: [], clusterScope: true }, undefined],
    [
      { ...resourceRule, verbs: ['list', '*'] },
      'verbs | Invalid value: ["list","*"]: if \'*\' is present, must not specify other verbs',
    ],
    [{ ...resourceRule, verbs: [] }, 'verbs | Required value: verbs must contain at least one value'],
    [
      { ...resourceRule, verbs: ['bla'] },
      'verbs | Unsupported value: ["bla"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
    ],
    [
      { ...resourceRule, apiGroups: [] },
      'apiGroups | Required value: resource rules must supply at least one api group',
    ],
    [
      { ...resourceRule, resources: ['*', 'b'] },
      'resources | Invalid value: ["*","b"]: if \'*\' is present, must not specify other resources',
    ],
    [
      { ...resourceRule, namespaces: [] },
      'namespaces | Required value: resource rules that are not cluster scoped must supply at least one namespace',
    ],
    [
      { ...resourceRule, namespaces: ['*', 'x'] },
      'namespaces | Invalid value: ["*","x"]: if \'*\' is present, must not specify other namespaces',
    ],
  ];
  for (const [rule, expected] of resourceCases) {
    it(`judges the rule ${JSON.stringify(rule)}`, () => {
      const found = ruleCauses({ subjects, resourceRules: [rule] });
      assert.deepEqual(found, expected === undefined ? [] : [`resourceRules[0].${expected}`]);
    });
  }

  const urls: readonly (readonly [string, string | undefined])[] = [
    ['*', undefined],
    ['/', undefined],
    ['/*', undefined],
    ['/a/*', undefined],
    ['', 'must not be empty'],
    ['a', 'must start with slash'],
    ['/a b', 'must not contain white-space'],
    ['/a//b', 'must not contain double slash'],
    ['/a*', 'wildcard can only do suffix matching'],
    ['/a/*/*', 'wildcard can only do suffix matching'],
  ];
  for (const [url, detail] of urls) {
    it(`judges the path ${JSON.stringify(url)}`, () => {
      const found = ruleCauses({ subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }] });
      const expected = `nonResourceRules[0].nonResourceURLs[0] | Invalid value: ${JSON.stringify(url)}: ${detail}`;
      assert.deepEqual(found, detail === undefined ? [] : [expected]);
    });
  }

  it('allows no other content under the names that every server needs', () => {
    const everything = {
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    };
    const exempt = {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: [{ kind: 'Group', group: { name: 'system:masters' } }], ...everything }],
    };
    assert.deepEqual(schema('exempt', exempt).causes, []);
    assert.match(schema('exempt', { ...exempt, matchingPrecedence: 2 }).causes.join(), /must equal the fixed value/);
    assert.match(schema('catch-all', {}).causes.join(), /spec of 'catch-all' must equal the fixed value/);
  });

  it('checks the types of conditions', () => {
    const { object } = schema('a', {});
    const conditions = [{ type: '' }, { type: 'Dangling' }, { type: 'Dangling' }];
    assert.deepEqual(tester.patch(object, { status: { conditions } }, 'status').causes, [
      'FieldValueRequired | status.conditions[0].type | Required value',
      'FieldValueDuplicate | status.conditions[2].type | Duplicate value: "Dangling"',
    ]);
  });
});
