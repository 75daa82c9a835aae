import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import { atOnce } from '../../../base/machinery/turns.js';
import type { ValidatingAdmissionPolicySpec } from '../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { checkPolicyTypes } from './check-policy-types.js';

let registry: ResourceRegistry;
before(async () => {
  registry = (await registeredGroups()).registry;
});

const rule = (apiGroups: string[], resources: string[], apiVersions = ['v1']) => ({
  apiGroups,
  apiVersions,
  resources,
  operations: ['CREATE'],
});
const deployments = rule(['apps'], ['deployments']);

function warningsOf(spec: object, rules: readonly object[] = [deployments]): Record<string, string> {
  const whole = { matchConstraints: { resourceRules: rules }, ...spec } as unknown as ValidatingAdmissionPolicySpec;
  const warnings = atOnce(checkPolicyTypes(whole, registry));
  return Object.fromEntries(warnings.map(({ fieldRef, warning }) => [fieldRef, warning]));
}

/** The first line of the faults of one validation; undefined if there are none. */
function faultOf(expression: string, more: object = {}, rules?: readonly object[]): string | undefined {
  const { 'spec.validations[0].expression': warning } = warningsOf({ validations: [{ expression }], ...more }, rules);
  return warning?.split('\n')[0];
}

const deployment = (fault: string) => `apps/v1, Kind=Deployment: ${fault}`;
const error = (column: number, text: string) => deployment(`ERROR: <input>:1:${column}: ${text}`);
const mapParams = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };

const right: readonly (readonly [string, object?])[] = [
  ['object.spec.replicas <= 5 && object.kind == "Deployment" && object.apiVersion == "apps/v1"'],
  ['oldObject == null || object.metadata.generation >= oldObject.metadata.generation'],
  ['object.metadata.?labels[?"a"].orValue("") == "b" && has(object.metadata.annotations.x)'],
  [
    'object.spec.template.spec.containers.all(c, c.image.startsWith("a/") && c.?securityContext.?runAsUser.orValue(1) > 0)',
  ],
  ['object["spec"]["anything"] == 1 && object.?spec[?"replicas"].orValue(1) == 1'],
  ['quantity(object.spec.template.spec.containers[0].resources.limits["cpu"]).isLessThan(quantity("2"))'],
  ['timestamp(object.metadata.creationTimestamp) < timestamp("2030-01-01T00:00:00Z")'],
  ['object.spec.strategy.rollingUpdate.maxSurge == 1 || object.spec.strategy.rollingUpdate.maxSurge == "25%"'],
  ['params.data["x"] == object.metadata.name', mapParams],
  ['params.any.thing == 1', { paramKind: { apiVersion: 'example.com/v1', kind: 'Unknown' } }],
  ['namespaceObject.metadata.labels["a"] == request.userInfo.username'],
  ['variables.n > 1', { variables: [{ name: 'n', expression: 'object.spec.replicas' }] }],
];

const wrong: readonly (readonly [string, string, object?])[] = [
  ['object.spec.replicaz > 5', error(12, "undefined field 'replicaz'")],
  ['object.replicas > 1', error(7, "undefined field 'replicas'")],
  ['oldObject.spec.x == 1', error(15, "undefined field 'x'")],
  ['has(object.spec.x)', error(4, "undefined field 'x'")],
  ['object.spec.replicas == "1"', error(22, "found no matching overload for '_==_' applied to '(int, string)'")],
  ['object.spec.replicas', deployment('must evaluate to bool')],
  ['object.spec.template.spec.containers.all(c, c.img == "")', error(46, "undefined field 'img'")],
  ['object.?spec.?replicaz.orValue(1) == 1', error(13, "undefined field 'replicaz'")],
  ['params.dat.x == "1"', error(7, "undefined field 'dat'"), mapParams],
  [
    'variables.n.startsWith("a")',
    "found no matching overload for 'startsWith'",
    {
      variables: [{ name: 'n', expression: 'object.spec.replicas' }],
    },
  ],
];

describe('type check of policies', () => {
  for (const [expression, more] of right) {
    it(`accepts ${expression}`, () => assert.equal(faultOf(expression, more), undefined));
  }
  for (const [expression, expected, more] of wrong) {
    it(`warns of ${expression}`, () => {
      const found = faultOf(expression, more) ?? '';
      assert.ok(found.startsWith(deployment('')) && found.includes(expected), found);
    });
  }

  it('shows the place', () => {
    assert.deepEqual(
      warningsOf({ validations: [{ expression: 'true' }, { expression: 'object.spec.replicaz > 5' }] }),
      {
        'spec.validations[1].expression':
          "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'\n | object.spec.replicaz > 5\n | ...........^\n",
      },
    );
  });

  it('checks every expression of a policy', () => {
    const bad = 'object.x == 1';
    const found = warningsOf({
      variables: [
        { name: 'good', expression: 'object.spec' },
        { name: 'bad', expression: 'object.x' },
      ],
      matchConditions: [{ name: 'a', expression: bad }],
      validations: [{ expression: 'variables.bad == 1', messageExpression: 'object.y' }],
      auditAnnotations: [{ key: 'a', valueExpression: 'string(variables.good.z)' }],
    });
    assert.deepEqual(Object.keys(found), [
      'spec.variables[1].expression',
      'spec.matchConditions[0].expression',
      'spec.validations[0].messageExpression',
      'spec.auditAnnotations[0].valueExpression',
    ]);
  });

  it('names each kind under which an expression is wrong, in order', () => {
    const rules = [rule(['apps', ''], ['statefulsets', 'deployments', 'configmaps', 'deployments/scale'])];
    const { 'spec.validations[0].expression': warning = '' } = warningsOf(
      { validations: [{ expression: 'object.data.x == "1"' }] },
      rules,
    );
    const kinds = warning.split('\n').filter((line) => line.includes('Kind='));
    assert.deepEqual(
      kinds.map((line) => line.split(': ')[0]),
      ['apps/v1, Kind=Deployment', 'apps/v1, Kind=StatefulSet'],
    );
    assert.match(faultOf('object.x', {}, [rule([''], ['pods'])]) ?? '', /^\/v1, Kind=Pod: ERROR/);
  });

  it('leaves alone what names no kinds', () => {
    const validations = [{ expression: 'object.x == 1' }];
    for (const rules of [
      [rule(['*'], ['deployments'])],
      [rule(['apps'], ['*'])],
      [rule(['apps'], ['deployments/*'])],
      [rule(['apps'], ['deployments/status'])],
      [rule(['apps'], ['deployments'], ['*'])],
      [rule(['example.com'], ['deployments'])],
      [],
    ])
      assert.deepEqual(warningsOf({ validations }, rules), {});
  });

  it('checks ten kinds, and ends in spite of rules without end', () => {
    const kinds = ['pods', 'services', 'secrets', 'configmaps', 'nodes', 'namespaces', 'endpoints', 'events'];
    const more = ['serviceaccounts', 'persistentvolumes', 'persistentvolumeclaims', 'limitranges'];
    const validations = [{ expression: 'object.x == 1' }];
    const { 'spec.validations[0].expression': warning = '' } = warningsOf({ validations }, [
      rule([''], [...kinds, ...more]),
    ]);
    assert.equal(warning.match(/Kind=/g)?.length, 10);
    const many = Array.from({ length: 3000 }, (_, i) => `x${i}`);
    assert.deepEqual(warningsOf({ validations }, [rule(many, many, many)]), {});
  });

  it('bounds the text of all warnings', () => {
    const validations = Array.from({ length: 5000 }, () => ({ expression: 'object.x==1' }));
    const found = warningsOf({ validations });
    const size = Object.values(found).join('').length;
    assert.ok(size > 30_000 && size < 65_536, `${size}`);
  });
});
