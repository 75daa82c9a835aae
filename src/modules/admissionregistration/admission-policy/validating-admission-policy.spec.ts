import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import type { Authorizer } from '../../../base/machinery/authorizer.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { authorizeParamKind, authorizeParamRef, type PolicyContext } from './param-access.js';
import {
  validatingAdmissionPolicyBindingResource,
  validatingAdmissionPolicyResource,
} from './validating-admission-policy.resource.js';

const mute: Authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '' }) };
const context: PolicyContext = {
  names: testNames,
  authorizer: mute,
  registry: { resourcesOf: () => [] },
  objects: { read: () => Promise.resolve(undefined) },
};
const policies = new DefinitionTester(validatingAdmissionPolicyResource(context));
const bindings = new DefinitionTester(validatingAdmissionPolicyBindingResource(context));

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const base = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
const required = (field: string, detail = '') => `FieldValueRequired | spec.${field} | Required value${detail}`;

describe('validating policies', () => {
  it('get defaults, columns and a generation', () => {
    const { object, causes } = policies.create({
      spec: { ...base, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
    });
    assert.deepEqual(causes, []);
    const spec = object.spec as Record<string, unknown>;
    assert.equal(spec.failurePolicy, 'Fail');
    assert.deepEqual(spec.matchConstraints, {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ ...rule, scope: '*' }],
    });
    assert.deepEqual(policies.cells(object), ['a', 1, 'v1/ConfigMap', '0s']);
    assert.equal(object.metadata.generation, 1);
  });

  const validation = (more: object) => ({ validations: [{ expression: 'true', ...more }] });
  const annotation = (more: object) => ({ auditAnnotations: [{ key: 'k', valueExpression: "'v'", ...more }] });
  const variables = (...all: [string, string][]) => ({
    variables: all.map(([name, expression]) => ({ name, expression })),
  });
  const cases: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
    [
      'variables that use each other',
      { ...variables(['a', '1'], ['b', 'variables.a + 1']), ...validation({ expression: 'variables.b == 2' }) },
      [],
    ],
    ['no rules', { matchConstraints: null }, [required('matchConstraints')]],
    ['an empty rule', { matchConstraints: { resourceRules: [] } }, [required('matchConstraints.resourceRules')]],
    [
      'nothing to do',
      { validations: [] },
      ['validations', 'auditAnnotations'].map((field) =>
        required(field, ': validations or auditAnnotations must contain at least one item'),
      ),
    ],
    [
      'another failure policy',
      { failurePolicy: 'x' },
      ['FieldValueNotSupported | spec.failurePolicy | Unsupported value: "x": supported values: "Fail", "Ignore"'],
    ],
    [
      'no expression',
      validation({ expression: ' ' }),
      [required('validations[0].expression', ': expression is not specified')],
    ],
    [
      'a syntax error',
      validation({ expression: '1 +' }),
      [
        /^FieldValueInvalid \| spec\.validations\[0\]\.expression \| Invalid value: "1 \+": compilation failed: ERROR: <input>:1:4: Syntax error/,
      ],
    ],
    [
      'another result',
      validation({ expression: '"a"' }),
      [
        'FieldValueInvalid | spec.validations[0].expression | Invalid value: "\\"a\\"": must evaluate to bool but got string',
      ],
    ],
    ['parameters without a kind', validation({ expression: 'params.a' }), [/undeclared reference to 'params'/]],
    [
      'variables of a policy without any',
      validation({ expression: 'variables.a' }),
      [/undeclared reference to 'variables'/],
    ],
    [
      'a variable that comes later',
      variables(['b', 'variables.a'], ['a', '1']),
      [/spec\.variables\[0\]\.expression .* undefined field 'a'/s],
    ],
    [
      'names of variables',
      variables(['a-b', '1'], ['in', '1']),
      [/spec\.variables\[0\]\.name .* must be a valid CEL identifier/, /spec\.variables\[1\]\.name/],
    ],
    ['one variable twice', variables(['a', '1'], ['a', '1']), []],
    [
      'a message of two lines',
      validation({ message: 'a\nb' }),
      ['FieldValueInvalid | spec.validations[0].message | Invalid value: "a\\nb": must not contain line breaks'],
    ],
    [
      'an expression of two lines',
      validation({ expression: 'true\n&& true' }),
      [required('validations[0].message', ': message must be specified if expression contains line breaks')],
    ],
    [
      'a message that is no text',
      validation({ messageExpression: '1' }),
      [
        'FieldValueInvalid | spec.validations[0].messageExpression | Invalid value: "1": must evaluate to string but got int',
      ],
    ],
    [
      'a message that asks the authorizer',
      validation({ messageExpression: 'string(authorizer)' }),
      [/undeclared reference to 'authorizer'/],
    ],
    [
      'another reason',
      validation({ reason: 'NotFound' }),
      [/FieldValueNotSupported \| spec\.validations\[0\]\.reason/],
    ],
    [
      'annotations of the wrong type',
      annotation({ valueExpression: '1' }),
      [
        'FieldValueInvalid | spec.auditAnnotations[0].valueExpression | Invalid value: "1": must evaluate to one of [string null_type] but got int',
      ],
    ],
    ['keys of annotations', annotation({ key: 'a b' }), [/FieldValueInvalid \| spec\.auditAnnotations\[0\]\.key/]],
    [
      'a wrong match condition',
      { matchConditions: [{ name: 'a', expression: 'variables.x' }] },
      [/spec\.matchConditions\[0\]\.expression .* undeclared reference to 'variables'/],
    ],
    [
      'a kind of parameters',
      { paramKind: { apiVersion: 'a/b/c' } },
      [
        'FieldValueInvalid | spec.paramKind.apiVersion | Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        required('paramKind.kind'),
      ],
    ],
    [
      'too much text',
      { validations: Array.from({ length: 3 }, () => ({ expression: `"${'a'.repeat(40_000)}" == ""` })) },
      [/^FieldValueForbidden \| spec\.validations\[2\]\.expression/],
    ],
  ];
  for (const [name, more, expected] of cases) {
    it(name, () => {
      const { causes } = policies.create({ spec: { ...base, ...more } });
      assert.equal(causes.length, expected.length, causes.join('\n'));
      for (const [i, cause] of causes.entries()) {
        const wanted = expected[i] as string | RegExp;
        if (typeof wanted === 'string') assert.equal(cause, wanted);
        else assert.match(cause, wanted);
      }
    });
  }

  it('check what loops report about them', () => {
    const { object } = policies.create({ spec: base });
    const expressionWarnings = [
      { fieldRef: 'spec.validations[0].expression', warning: 'w' },
      { fieldRef: '', warning: ' ' },
      { fieldRef: 'spec[', warning: 'w' },
    ];
    const conditions = [{ type: '', status: '', reason: 'R', message: '' }];
    const status = { typeChecking: { expressionWarnings }, conditions };
    assert.deepEqual(policies.patch(object, { status }, 'status').causes, [
      'FieldValueRequired | status.typeChecking.expressionWarnings[1].fieldRef | Required value',
      'FieldValueRequired | status.typeChecking.expressionWarnings[1].warning | Required value',
      'FieldValueInvalid | status.typeChecking.expressionWarnings[2].fieldRef | Invalid value: "spec[": invalid JSONPath: unterminated array',
      'FieldValueRequired | status.conditions[0].type | Required value: is required',
      'FieldValueRequired | status.conditions[0].status | Required value',
      'FieldValueRequired | status.conditions[0].lastTransitionTime | Required value',
    ]);
  });

  it('stay writable with expressions that newer checks refuse', () => {
    const { object } = policies.create({ spec: base });
    (object.spec as { validations: object[] }).validations = [{ expression: 'nothing.of.today' }];
    assert.deepEqual(policies.patch(object, { metadata: { labels: { a: 'b' } } }).causes, []);
    const renamed = { spec: { variables: [{ name: 'a', expression: '1' }] } };
    assert.equal(policies.patch(object, renamed).causes.length, 1);
  });
});

describe('bindings of validating policies', () => {
  const spec = { policyName: 'p', validationActions: ['Deny'] };
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['no policy', { policyName: '' }, [required('policyName')]],
    ['nothing', { policyName: '', validationActions: [] }, [required('policyName'), required('validationActions')]],
    ['no action', { validationActions: [] }, [required('validationActions', '')]],
    [
      'both answers',
      { validationActions: ['Deny', 'Warn'] },
      [
        'FieldValueInvalid | spec.validationActions | Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      'no parameters named',
      { paramRef: { parameterNotFoundAction: 'Deny' } },
      [required('paramRef', ': one of name or selector must be specified')],
    ],
    ['parameters without an action', { paramRef: { name: 'x' } }, [required('paramRef.parameterNotFoundAction')]],
    [
      'two ways to parameters',
      { paramRef: { name: 'x', selector: {}, parameterNotFoundAction: 'Allow' } },
      ['name', 'selector'].map(
        (f) => `FieldValueForbidden | spec.paramRef.${f} | Forbidden: name and selector are mutually exclusive`,
      ),
    ],
  ];
  for (const [name, more, expected] of cases) {
    it(name, () => assert.deepEqual(bindings.create({ spec: { ...spec, ...more } }).causes, expected));
  }

  it('show their policy and parameters', () => {
    const paramRef = { name: 'x', namespace: 'n', parameterNotFoundAction: 'Allow' };
    const { object, causes } = bindings.create({ spec: { ...spec, paramRef, matchResources: {} } });
    assert.deepEqual(causes, []);
    assert.deepEqual(bindings.cells(object), ['a', 'p', 'n/x', '0s']);
  });
});

describe('parameters', () => {
  const request = { user: { name: 'alice', uid: '', groups: [], extra: {} } } as unknown as RequestContext;
  const asked: string[] = [];
  const deciding: PolicyContext = {
    ...context,
    objects: {
      read: () => Promise.resolve({ metadata: {}, spec: { paramKind: { apiVersion: 'v1', kind: 'Secret' } } }),
    },
    authorizer: {
      authorize: ({ verb, apiGroup, apiVersion, resource, namespace, name }) => {
        asked.push(`${verb} ${apiGroup}/${apiVersion}/${resource} ${namespace}/${name}`);
        return { decision: name === 'mine' ? 'allow' : 'noOpinion', reason: '' };
      },
    },
  };
  const written = { kind: 'K', name: 'x' };
  const kind = { apiVersion: 'v1', kind: 'Secret' };

  it('can be used only by those who may read them', async () => {
    const refused = (error: unknown) =>
      error instanceof StatusError && error.code === 422 && /permission on/.test(error.message);
    await assert.rejects(authorizeParamKind(deciding, request, written, kind, undefined), refused);
    await authorizeParamKind(deciding, request, written, kind, kind);
    const ref = (name: string) => ({
      policyName: 'p',
      paramRef: { name, namespace: 'n', parameterNotFoundAction: 'Allow' },
    });
    await authorizeParamRef(deciding, request, written, 'validatingadmissionpolicies', ref('mine'), undefined);
    await assert.rejects(
      authorizeParamRef(deciding, request, written, 'validatingadmissionpolicies', ref('other'), undefined),
      refused,
    );
    assert.deepEqual(asked, ['get /v1/* */*', 'get /v1/* n/mine', 'get /v1/* n/other']);
  });
});
