import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { resourceQuotaResource } from './resource-quota.resource.js';

const tester = new DefinitionTester(resourceQuotaResource(testNames));
const expressions = 'spec.scopeSelector.matchExpressions';
const scoped = (...scopes: string[]) => ({ spec: { hard: { pods: '1' }, scopes } });
const selecting = (...matchExpressions: object[]) => ({
  spec: { hard: { pods: '1' }, scopeSelector: { matchExpressions } },
});

describe('resource quotas', () => {
  const good: [string, Record<string, unknown>][] = [
    ['nothing', { spec: {} }],
    [
      'counts, requests, limits, storage classes and devices',
      {
        spec: {
          hard: {
            pods: '1',
            'count/deployments.apps': '2',
            'requests.cpu': '1500m',
            'limits.memory': '1Gi',
            'requests.example.com/gpu': '1',
            [`fast.storageclass.storage.${testNames.suffix}/requests.storage`]: '1Gi',
            'hugepages-2Mi': '1',
            'requests.hugepages-2Mi': '2Mi',
          },
        },
      },
    ],
    ...[
      'BestEffort',
      'NotBestEffort',
      'Terminating',
      'NotTerminating',
      'PriorityClass',
      'CrossNamespacePodAffinity',
    ].map((scope): [string, Record<string, unknown>] => [`the scope ${scope}`, scoped(scope)]),
    ['a choice of classes', selecting({ scopeName: 'PriorityClass', operator: 'In', values: ['a'] })],
    ['a priority class', selecting({ scopeName: 'PriorityClass', operator: 'DoesNotExist' })],
    ['an existing scope', selecting({ scopeName: 'BestEffort', operator: 'Exists' })],
  ];
  for (const [name, body] of good) it(`take ${name}`, () => assertCauses(tester.create(body).causes, []));

  it('have whole thousandths', () => {
    const { object } = tester.create({ spec: { hard: { 'requests.cpu': '1.5m' } } });
    assert.deepEqual((object.spec as { hard: unknown }).hard, { 'requests.cpu': '2m' });
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'impossible amounts',
      { spec: { hard: { pods: '-1', services: '500m', foo: '1', 'a b': '1' } } },
      [
        'Invalid | spec.hard[a b] | Invalid value: "a b": name part must consist',
        'Invalid | spec.hard[a b] | Invalid value: "a b": must be a standard resource for quota',
        'Invalid | spec.hard[foo] | Invalid value: "foo": must be a standard resource type or fully qualified',
        'Invalid | spec.hard[foo] | Invalid value: "foo": must be a standard resource for quota',
        'Invalid | spec.hard[pods] | Invalid value: "-1": must be greater than or equal to 0',
        'Invalid | spec.hard[services] | Invalid value: "500m": must be an integer',
      ],
    ],
    ['an unknown scope', scoped('Odd'), ['Invalid | spec.scopes | Invalid value: ["Odd"]: unsupported scope']],
    [
      'scopes of other things',
      { spec: { hard: { pods: '1', cpu: '1', services: '1' }, scopes: ['BestEffort'] } },
      ['Invalid | spec.scopes | Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [
      'opposite scopes',
      scoped('Terminating', 'NotTerminating'),
      ['Invalid | spec.scopes | Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
    ],
    [
      'a choice among nothing',
      selecting({ scopeName: 'PriorityClass', operator: 'NotIn' }),
      [`Required | ${expressions}.values | Required value: must be at least one value when \`operator\` is 'In' or`],
    ],
    [
      'values without a choice',
      selecting({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }),
      [`Invalid | ${expressions}.values | Invalid value: ["a"]: must be no value when \`operator\` is 'Exist'`],
    ],
    [
      'a choice in a plain scope',
      selecting({ scopeName: 'BestEffort', operator: 'In', values: ['a'] }),
      [`Invalid | ${expressions}.operator | Invalid value: "In": must be 'Exists' when scope is any of`],
    ],
    [
      'unknown words',
      selecting({ scopeName: 'Odd', operator: 'Odd' }),
      [
        `Invalid | ${expressions}.scopeName | Invalid value: "Odd": unsupported scope`,
        `Invalid | ${expressions}.operator | Invalid value: "Odd": not a valid selector operator`,
      ],
    ],
    [
      'opposites in a selector',
      selecting({ scopeName: 'BestEffort', operator: 'Exists' }, { scopeName: 'NotBestEffort', operator: 'Exists' }),
      [`Invalid | ${expressions} | Invalid value: null: conflicting scopes`],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('keep their scopes, in any order', () => {
    const { object } = tester.create(scoped('BestEffort', 'Terminating'));
    assertCauses(tester.patch(object, { spec: { scopes: ['Terminating', 'BestEffort'] } }).causes, []);
    assertCauses(tester.patch(object, { spec: { scopes: ['BestEffort'] } }).causes, [
      'Invalid | spec.scopes | Invalid value: ["BestEffort"]: field is immutable',
    ]);
  });

  it('check and show usage', () => {
    const { object } = tester.create({ spec: { hard: { pods: '1' } }, status: { hard: { pods: '9' } } });
    assert.deepEqual(object.status, {});
    const wrong = tester.patch(object, { status: { hard: { foo: '1' }, used: { pods: '1500m' } } }, 'status');
    assertCauses(wrong.causes, [
      'Invalid | status.hard[foo] | Invalid value: "foo": must be a standard resource type',
      'Invalid | status.hard[foo] | Invalid value: "foo": must be a standard resource for quota',
      'Invalid | status.used[pods] | Invalid value: "1500m": must be an integer',
    ]);
    const hard = { pods: '10', cpu: '4', 'limits.cpu': '8' };
    const right = tester.patch(object, { status: { hard, used: { pods: '1' } } }, 'status');
    assert.deepEqual(tester.cells(right.object, 1), ['a', 'cpu: 0/4, pods: 1/10', 'limits.cpu: 0/8', '1s']);
    (right.object.status as { hard: unknown }).hard = { constructor: '1' };
    assert.equal(tester.cells(right.object, 1)[1], 'constructor: 0/1');
  });
});
