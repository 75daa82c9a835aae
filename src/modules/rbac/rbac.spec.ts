import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../test/support/definition-tester.js';
import { closedAuthorizer, closedRules } from '../../base/machinery/authorizer.js';
import { type VendorNames, vendorNames } from '../../base/machinery/vendor.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import type { EscalationContext } from './escalation/escalation-guard.js';
import { clusterRoleResource, roleResource } from './role/role.resource.js';
import { clusterRoleBindingResource, roleBindingResource } from './role-binding/role-binding.resource.js';

function contextOf(names: VendorNames): EscalationContext {
  return {
    names,
    authorizer: closedAuthorizer,
    rules: closedRules,
    registry: new ResourceRegistry(),
    storage: {} as EscalationContext['storage'],
  };
}

const group = 'rbac.authorization.k8s.io';

describe('Role and ClusterRole', () => {
  const roles = new DefinitionTester(roleResource(contextOf(testNames)));
  const clusterRoles = new DefinitionTester(clusterRoleResource(contextOf(testNames)));
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

  it('takes names that fit into a path', () => {
    assert.deepEqual(roles.create({ metadata: { name: 'system:A b' }, rules: [rule] }).causes, []);
    assert.deepEqual(roles.create({ metadata: { name: 'a%/b' } }).causes, [
      'FieldValueInvalid | metadata.name | Invalid value: "a%/b": may not contain \'/\'',
      'FieldValueInvalid | metadata.name | Invalid value: "a%/b": may not contain \'%\'',
    ]);
    assert.deepEqual(clusterRoles.create({ metadata: { name: '..' } }).causes, [
      'FieldValueInvalid | metadata.name | Invalid value: "..": may not be \'..\'',
    ]);
  });

  it('requires verbs, groups and resources', () => {
    const expected = [
      'FieldValueRequired | rules[0].apiGroups | Required value: resource rules must supply at least one api group',
      'FieldValueRequired | rules[0].resources | Required value: resource rules must supply at least one resource',
      'FieldValueRequired | rules[0].verbs | Required value',
    ];
    assert.deepEqual(roles.create({ rules: [{}] }).causes, expected);
    assert.deepEqual(clusterRoles.create({ rules: [{}] }).causes, expected);
  });

  it('keeps URLs out of namespaces and apart from resources', () => {
    const urls = { verbs: ['get'], nonResourceURLs: ['/x'] };
    assert.deepEqual(roles.create({ rules: [urls] }).causes, [
      'FieldValueInvalid | rules[0].nonResourceURLs | Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ]);
    assert.deepEqual(clusterRoles.create({ rules: [urls, { ...rule, ...urls }] }).causes, [
      'FieldValueInvalid | rules[1].nonResourceURLs | Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
    ]);
  });

  it('checks aggregation selectors, even on update', () => {
    const none = [
      'FieldValueRequired | aggregationRule.clusterRoleSelectors | Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ];
    assert.deepEqual(clusterRoles.create({ aggregationRule: {} }).causes, none);
    const { object, causes } = clusterRoles.create({
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    });
    assert.deepEqual(causes, []);
    assert.equal(object.rules, null);
    const bad = { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'x' }] }] } };
    assert.deepEqual(clusterRoles.patch(object, bad).causes, [
      'FieldValueInvalid | aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator | Invalid value: "x": not a valid selector operator',
      'FieldValueInvalid | aggregationRule.clusterRoleSelectors[0] | Invalid value: null: invalid label selector.',
    ]);
  });
});

describe('RoleBinding and ClusterRoleBinding', () => {
  const bindings = new DefinitionTester(roleBindingResource(contextOf(testNames)));
  const clusterBindings = new DefinitionTester(clusterRoleBindingResource(contextOf(testNames)));

  it('fills groups of the role and of users and groups', () => {
    const { object, causes } = bindings.create({
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.roleRef, { apiGroup: group, kind: 'Role', name: 'r' });
    assert.deepEqual(object.subjects, [
      { kind: 'User', apiGroup: group, name: 'u' },
      { kind: 'Group', apiGroup: group, name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ]);
    assert.deepEqual(bindings.cells(object), ['a', 'Role/r', '0s', 'u', 'g', 'n/s']);
  });

  it('uses the group name of the vendor', () => {
    const tester = new DefinitionTester(roleBindingResource(contextOf(vendorNames('example.dev'))));
    const { object } = tester.create({ roleRef: { kind: 'Role', name: 'r' } });
    assert.equal((object.roleRef as { apiGroup: string }).apiGroup, 'rbac.authorization.example.dev');
  });

  it('checks role and subjects', () => {
    const subjects = [
      { kind: 'User', name: '', apiGroup: 'y' },
      { kind: 'ServiceAccount', name: 'a/b', apiGroup: 'x' },
      { kind: 'Dog', name: 'd' },
    ];
    const { causes } = bindings.create({ roleRef: { apiGroup: 'x', kind: 'Odd', name: '' }, subjects });
    assert.deepEqual(
      causes.map((cause) => cause.replace(/ \(e\.g\..*$/, '')),
      [
        `FieldValueNotSupported | roleRef.apiGroup | Unsupported value: "x": supported values: "${group}"`,
        'FieldValueNotSupported | roleRef.kind | Unsupported value: "Odd": supported values: "Role", "ClusterRole"',
        `FieldValueNotSupported | subjects[0].apiGroup | Unsupported value: "y": supported values: "${group}"`,
        "FieldValueInvalid | subjects[1].name | Invalid value: \"a/b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'FieldValueNotSupported | subjects[1].apiGroup | Unsupported value: "x": supported values: ""',
        'FieldValueNotSupported | subjects[2].kind | Unsupported value: "Dog": supported values: "ServiceAccount", "User", "Group"',
        'FieldValueRequired | subjects[0].name | Required value',
        'FieldValueRequired | roleRef.name | Required value',
      ],
    );
  });

  it('requires more for the whole cluster', () => {
    const { causes } = clusterBindings.create({
      roleRef: { kind: 'Role', name: 'x' },
      subjects: [{ kind: 'ServiceAccount', name: 'a' }],
    });
    assert.deepEqual(causes, [
      'FieldValueNotSupported | roleRef.kind | Unsupported value: "Role": supported values: "ClusterRole"',
      'FieldValueRequired | subjects[0].namespace | Required value',
    ]);
  });

  it('keeps the role and lets the subjects change', () => {
    const { object } = bindings.create({ roleRef: { kind: 'Role', name: 'r' } });
    assert.deepEqual(bindings.patch(object, { roleRef: { name: 'other' } }).causes, [
      `FieldValueInvalid | roleRef | Invalid value: {"APIGroup":"${group}","Kind":"Role","Name":"other"}: field is immutable`,
    ]);
    assert.deepEqual(bindings.patch(object, { subjects: [{ kind: 'User', name: 'u' }] }).causes, []);
  });
});
