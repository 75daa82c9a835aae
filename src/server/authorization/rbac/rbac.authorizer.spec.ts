import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOfRequest } from '../../../../test/support/request-attributes.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { atOnce } from '../../../base/machinery/turns.js';
import type { ClusterRole, PolicyRule } from '../../../objects/apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../../objects/apis/rbac/v1/role-binding.types.js';
import { CompiledBinding } from './compiled-binding.js';
import { CompiledRole } from './compiled-role.js';
import { FreshPolicyAuthorizer, maxLostMs } from './fresh-policy.authorizer.js';
import { PolicyIndex } from './policy-index.js';
import { PolicyMemory } from './policy-memory.js';
import { RbacAuthorizer } from './rbac.authorizer.js';

const group = 'rbac.authorization.k8s.io';

function metadata(name: string, namespace?: string): ClusterRole['metadata'] {
  return { name, ...(namespace === undefined ? {} : { namespace }) } as ClusterRole['metadata'];
}

/** `User alice`, `Group devs`, `ServiceAccount ns/name` or `ServiceAccount name`. */
function subject(text: string): Subject {
  const [kind = '', name = ''] = text.split(' ');
  if (kind !== 'ServiceAccount') return { kind, apiGroup: group, name };
  const [first = '', second] = name.split('/');
  return second === undefined ? { kind, name: first } : { kind, namespace: first, name: second };
}

function binding(name: string, namespace: string, role: string, subjects: readonly string[]): RoleBinding {
  const [kind = '', roleName = ''] = role.split(' ');
  return {
    metadata: metadata(name, namespace === '' ? undefined : namespace),
    subjects: subjects.map(subject),
    roleRef: { apiGroup: group, kind, name: roleName },
  } as RoleBinding | ClusterRoleBinding as RoleBinding;
}

function user(name: string, ...groups: string[]): UserInfo {
  return { name, uid: '', groups, extra: {} };
}

class Policy {
  readonly index = new PolicyIndex();
  readonly authorizer = new RbacAuthorizer(this.index, group);

  role(role: string, rules: PolicyRule[] | null, namespace = ''): this {
    const [kind = '', name = ''] = role.split(' ');
    const object = { metadata: metadata(name, namespace === '' ? undefined : namespace), rules } as ClusterRole;
    this.index.setRole(object, kind as 'Role' | 'ClusterRole');
    return this;
  }

  bind(name: string, namespace: string, role: string, ...subjects: string[]): this {
    this.index.setBinding(binding(name, namespace, role, subjects));
    return this;
  }

  decide(who: UserInfo, request: string) {
    return this.authorizer.authorize(attributesOfRequest(who, request));
  }

  allows(who: UserInfo, request: string): boolean {
    return this.decide(who, request).decision === 'allow';
  }
}

const core = (verbs: string, resources: string, names?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [''],
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
});

describe('RbacAuthorizer', () => {
  /** rule, request, allowed */
  const cases: [string, PolicyRule, string, boolean][] = [
    ['the verb', core('get', 'pods'), 'GET /api/v1/namespaces/n/pods/p', true],
    ['HEAD as get', core('get', 'pods'), 'HEAD /api/v1/namespaces/n/pods/p', true],
    ['another verb', core('get', 'pods'), 'GET /api/v1/namespaces/n/pods', false],
    ['watch is not list', core('list', 'pods'), 'GET /api/v1/namespaces/n/pods?watch=1', false],
    ['every verb', core('*', 'pods'), 'DELETE /api/v1/namespaces/n/pods', true],
    ['another resource', core('get', 'pods'), 'GET /api/v1/namespaces/n/secrets/s', false],
    ['every resource', core('get', '*'), 'GET /api/v1/namespaces/n/secrets/s', true],
    ['every resource has subresources', core('get', '*'), 'GET /api/v1/namespaces/n/pods/p/log', true],
    ['a resource without its subresources', core('get', 'pods'), 'GET /api/v1/namespaces/n/pods/p/log', false],
    ['a subresource', core('get', 'pods/log'), 'GET /api/v1/namespaces/n/pods/p/log', true],
    ['a subresource without its parent', core('get', 'pods/log'), 'GET /api/v1/namespaces/n/pods/p', false],
    ['a subresource of everything', core('get', '*/log'), 'GET /api/v1/namespaces/n/pods/p/log', true],
    ['only that subresource of everything', core('get', '*/log'), 'GET /api/v1/namespaces/n/pods/p/status', false],
    ['no wildcard behind the slash', core('get', 'pods/*'), 'GET /api/v1/namespaces/n/pods/p/log', false],
    ['another group', core('get', 'deployments'), 'GET /apis/apps/v1/namespaces/n/deployments/d', false],
    [
      'every group',
      { verbs: ['get'], apiGroups: ['*'], resources: ['deployments'] },
      'GET /apis/apps/v1/namespaces/n/deployments/d',
      true,
    ],
    ['a name', core('get', 'pods', 'a b'), 'GET /api/v1/namespaces/n/pods/b', true],
    ['another name', core('get', 'pods', 'a b'), 'GET /api/v1/namespaces/n/pods/c', false],
    ['a name and its subresource', core('get', 'pods/log', 'a'), 'GET /api/v1/namespaces/n/pods/a/log', true],
    ['a list by name', core('list', 'pods', 'a'), 'GET /api/v1/namespaces/n/pods?fieldSelector=metadata.name=a', true],
    ['a list of all', core('list', 'pods', 'a'), 'GET /api/v1/namespaces/n/pods', false],
    [
      'a watch by name',
      core('watch', 'pods', 'a'),
      'GET /api/v1/namespaces/n/pods?watch=1&fieldSelector=metadata.name%3Da',
      true,
    ],
    ['no create by name', core('create', 'pods', 'a'), 'POST /api/v1/namespaces/n/pods', false],
    [
      'no deletecollection by name',
      core('deletecollection', 'pods', 'a'),
      'DELETE /api/v1/namespaces/n/pods?fieldSelector=metadata.name=a',
      false,
    ],
    ['a path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, 'GET /metrics', true],
    ['the method of a path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, 'POST /metrics', false],
    ['a longer path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, 'GET /metrics/x', false],
    ['a path by its beginning', { verbs: ['get'], nonResourceURLs: ['/logs/*'] }, 'GET /logs/a/b', true],
    ['the beginning has to be there', { verbs: ['get'], nonResourceURLs: ['/logs/*'] }, 'GET /logs', false],
    ['a star inside a path is no wildcard', { verbs: ['get'], nonResourceURLs: ['/*/x'] }, 'GET /a/x', false],
    ['every path', { verbs: ['*'], nonResourceURLs: ['*'] }, 'DELETE /x', true],
    ['paths are no resources', { verbs: ['*'], nonResourceURLs: ['*'] }, 'GET /api/v1/pods', false],
    ['resources are no paths', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, 'GET /metrics', false],
  ];
  for (const [what, rule, request, expected] of cases) {
    it(`${what}: ${expected ? 'allowed' : 'not allowed'}`, () => {
      const policy = new Policy().role('ClusterRole r', [rule]).bind('b', '', 'ClusterRole r', 'User alice');
      assert.equal(policy.allows(user('alice'), request), expected);
      assert.equal(policy.allows(user('bob'), request), false);
    });
  }

  it('limits the rights of a RoleBinding to its namespace', () => {
    const policy = new Policy()
      .role('ClusterRole r', [core('get list', 'pods nodes'), { verbs: ['get'], nonResourceURLs: ['*'] }])
      .role('Role l', [core('get', 'secrets')], 'n')
      .bind('b', 'n', 'ClusterRole r', 'User alice')
      .bind('l', 'n', 'Role l', 'User alice')
      .bind('l', 'm', 'Role l', 'User alice');
    const alice = user('alice');
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/n/pods/p'), true);
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/n/secrets/p'), true);
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/m/pods/p'), false);
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/m/secrets/p'), false);
    assert.equal(policy.allows(alice, 'GET /api/v1/pods'), false);
    assert.equal(policy.allows(alice, 'GET /api/v1/nodes/x'), false);
    assert.equal(policy.allows(alice, 'GET /metrics'), false);
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/n'), false);
  });

  it('knows users, groups and service accounts, and says which binding it was', () => {
    const policy = new Policy()
      .role('ClusterRole c', [core('get', 'nodes')])
      .role('Role r', [core('get', 'pods')], 'n')
      .bind(
        'wide',
        '',
        'ClusterRole c',
        'User Alice',
        'Group devs',
        'ServiceAccount sys/runner',
        'ServiceAccount runner',
      )
      .bind('here', 'n', 'Role r', 'User Alice', 'Group devs', 'ServiceAccount m/runner', 'ServiceAccount runner');
    const reason = (who: UserInfo, request: string) => policy.decide(who, request).reason;
    const node = 'GET /api/v1/nodes/x';
    const pod = 'GET /api/v1/namespaces/n/pods/x';
    const wide = 'RBAC: allowed by ClusterRoleBinding "wide" of ClusterRole "c" to';
    const here = 'RBAC: allowed by RoleBinding "here/n" of Role "r" to';
    assert.equal(reason(user('Alice'), node), `${wide} User "Alice"`);
    assert.equal(reason(user('alice'), node), '');
    assert.equal(reason(user('x', 'ops', 'devs'), node), `${wide} Group "devs"`);
    assert.equal(reason(user('system:serviceaccount:sys:runner'), node), `${wide} ServiceAccount "runner/sys"`);
    assert.equal(reason(user('system:serviceaccount::runner'), node), '');
    assert.equal(reason(user('x', 'devs'), pod), `${here} Group "devs"`);
    assert.equal(reason(user('system:serviceaccount:m:runner'), pod), `${here} ServiceAccount "runner/m"`);
    assert.equal(reason(user('system:serviceaccount:n:runner'), pod), `${here} ServiceAccount "runner/n"`);
    assert.equal(reason(user('devs', 'Alice'), node), '');
  });

  it('reports bound roles that do not exist', () => {
    const policy = new Policy().bind('a', 'n', 'Role gone', 'User alice');
    const alice = user('alice');
    const single = 'RBAC: role.rbac.authorization.k8s.io "gone" not found';
    assert.deepEqual(policy.decide(alice, 'GET /api/v1/namespaces/n/pods'), { decision: 'noOpinion', reason: single });
    assert.equal(policy.decide(alice, 'GET /api/v1/namespaces/m/pods').reason, '');
    policy.bind('b', 'n', 'Role gone', 'User alice').bind('c', '', 'ClusterRole none', 'User alice');
    const both =
      '[clusterrole.rbac.authorization.k8s.io "none" not found, role.rbac.authorization.k8s.io "gone" not found]';
    assert.equal(policy.decide(alice, 'GET /api/v1/namespaces/n/pods').reason, `RBAC: ${both}`);
    assert.equal(policy.authorizer.rulesFor(alice, 'n').evaluationError, both);
  });

  it('lists rules, each binding once', () => {
    const rule = core('get', 'pods', 'a');
    const paths = { verbs: ['get'], nonResourceURLs: ['/x'] };
    const policy = new Policy()
      .role('ClusterRole c', [rule, paths])
      .role('Role empty', null, 'n')
      .bind('b', '', 'ClusterRole c', 'User alice', 'Group devs')
      .bind('e', 'n', 'Role empty', 'User alice');
    assert.deepEqual(policy.authorizer.rulesFor(user('alice', 'devs'), 'n'), {
      resourceRules: [rule],
      nonResourceRules: [paths],
      incomplete: false,
      evaluationError: '',
    });
    assert.deepEqual(policy.authorizer.rulesFor(user('bob'), 'n').resourceRules, []);
  });
});

describe('PolicyIndex', () => {
  const alice = user('alice');
  const request = 'GET /api/v1/namespaces/n/pods/p';

  it('follows roles and bindings as they come, change and go, in any order', () => {
    const policy = new Policy().bind('b', 'n', 'Role r', 'User alice');
    assert.equal(policy.allows(alice, request), false);
    policy.role('Role r', [core('get', 'pods')], 'n');
    assert.equal(policy.allows(alice, request), true);
    policy.role('Role r', [core('list', 'pods')], 'n');
    assert.equal(policy.allows(alice, request), false);
    policy.role('Role r', [core('get', 'pods')], 'n').bind('b', 'n', 'Role r', 'User bob');
    assert.equal(policy.allows(alice, request), false);
    assert.equal(policy.allows(user('bob'), request), true);
    policy.index.deleteRole('Role', 'n', 'r');
    assert.equal(policy.allows(user('bob'), request), false);
    policy.role('Role r', [core('get', 'pods')], 'n');
    assert.equal(policy.allows(user('bob'), request), true);
    policy.index.deleteBinding('n', 'b');
    assert.equal(policy.allows(user('bob'), request), false);
    assert.equal(policy.index.scope('n'), undefined);
  });

  it('sets a large binding in steps, without interrupting the rights of remaining subjects', () => {
    const policy = new Policy().role('Role r', [core('get', 'pods')], 'n');
    const names = (from: number) => Array.from({ length: 5_000 }, (_, i) => `User u${from + i}`);
    policy.bind('b', 'n', 'Role r', ...names(0));
    let steps = 0;
    for (const _ of policy.index.settingBinding(binding('b', 'n', 'Role r', names(2_500)))) {
      steps++;
      assert.equal(policy.allows(user('u4000'), request), true);
    }
    assert.ok(steps > 20, `${steps} steps`);
    const allowed = [0, 2_499, 2_500, 7_499, 7_500].map((i) => policy.allows(user(`u${i}`), request));
    assert.deepEqual(allowed, [false, false, true, true, false]);
    policy.index.deleteBinding('n', 'b');
    assert.equal(policy.index.scope('n'), undefined);
  });

  it('sets a large role in steps, and decides by the old one until the last step', () => {
    const policy = new Policy().role('Role r', [core('get', 'pods')], 'n').bind('b', 'n', 'Role r', 'User alice');
    const wide = core('get', Array.from({ length: 5_000 }, (_, i) => `r${i}`).join(' '));
    const rules = [...Array.from({ length: 5_000 }, (_, i) => core('get', `s${i}`)), wide, core('get', 'secrets')];
    let steps = 0;
    const role = { metadata: metadata('r', 'n'), rules } as ClusterRole;
    for (const _ of policy.index.settingRole(role, 'Role')) {
      steps++;
      assert.equal(policy.allows(user('alice'), request), true);
    }
    assert.ok(steps > 5_020, `${steps} steps`);
    assert.equal(policy.allows(user('alice'), request), false);
    assert.equal(policy.allows(user('alice'), 'GET /api/v1/namespaces/n/secrets/s'), true);
  });

  it('reads paths in rules in time that grows with their length', () => {
    const path = `/${'*'.repeat(1_000_000)}x*`;
    const policy = new Policy().role('ClusterRole r', [{ verbs: ['get'], nonResourceURLs: [path, '/a**'] }]);
    policy.bind('b', '', 'ClusterRole r', 'User alice');
    assert.equal(policy.allows(user('alice'), 'GET /a/b'), true);
    assert.equal(policy.allows(user('alice'), 'GET /b'), false);
  });

  it('limits how many rules of a user it lists', () => {
    const rules = Array.from({ length: 30_000 }, (_, i) => core('get', `r${i}`));
    const policy = new Policy().role('ClusterRole r', rules).bind('b', '', 'ClusterRole r', 'User alice');
    const { resourceRules, incomplete, evaluationError } = policy.authorizer.rulesFor(user('alice'), 'n');
    assert.equal(resourceRules.length, 25_000);
    assert.equal(incomplete, true);
    assert.match(evaluationError, /too many rules/);
  });

  it('gives the same reasons for a binding of many subjects, in the order of the names of bindings', () => {
    const many = Array.from({ length: 300 }, (_, i) => `User u${i}`);
    const subjects = [...many, 'Group devs', 'ServiceAccount m/runner', 'ServiceAccount own', 'Robot u1000'];
    const policy = new Policy()
      .role('Role r', [core('get', 'pods')], 'n')
      .bind('b', 'n', 'Role r', ...subjects)
      .bind('c', 'n', 'Role r', 'User u1', 'User u1000')
      .bind('a', 'n', 'Role r', 'User u2');
    const reason = (who: UserInfo) => policy.decide(who, request).reason.replace('RBAC: allowed by RoleBinding ', '');
    assert.equal(reason(user('u1')), '"b/n" of Role "r" to User "u1"');
    assert.equal(reason(user('u2')), '"a/n" of Role "r" to User "u2"');
    assert.equal(reason(user('u1000')), '"c/n" of Role "r" to User "u1000"');
    assert.equal(reason(user('x', 'devs')), '"b/n" of Role "r" to Group "devs"');
    assert.equal(reason(user('system:serviceaccount:m:runner')), '"b/n" of Role "r" to ServiceAccount "runner/m"');
    assert.equal(reason(user('system:serviceaccount:n:own')), '"b/n" of Role "r" to ServiceAccount "own/n"');
    assert.equal(reason(user('devs')), '');
    policy.bind('b', 'n', 'Role r', 'User u3');
    assert.deepEqual([reason(user('u1')), reason(user('u4'))], ['"c/n" of Role "r" to User "u1"', '']);
    assert.equal(reason(user('u3')), '"b/n" of Role "r" to User "u3"');
    policy.bind('b', 'n', 'Role r', ...many);
    assert.deepEqual([reason(user('u3')), reason(user('x', 'devs'))], ['"b/n" of Role "r" to User "u3"', '']);
    for (const name of ['a', 'b', 'c']) policy.index.deleteBinding('n', name);
    policy.index.deleteRole('Role', 'n', 'r');
    assert.equal(policy.index.scope('n'), undefined);
    assert.equal(policy.index.memory.bytes, 0);
  });

  it('keeps rules that differ in their names as one, whatever their order', () => {
    const rules = Array.from({ length: 1_000 }, (_, i) => core('get', 'pods', `p-${i}`));
    const policy = new Policy().role('Role r', rules, 'n').bind('b', 'n', 'Role r', 'User alice');
    for (const i of [0, 500, 999]) assert.ok(policy.allows(alice, `GET /api/v1/namespaces/n/pods/p-${i}`), String(i));
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/n/pods/p-1000'), false);
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/n/pods'), false);
    assert.ok(CompiledRole.of(rules).bytes < 30_000, `${CompiledRole.of(rules).bytes} bytes`);
    assert.equal(policy.authorizer.rulesFor(alice, 'n').resourceRules.length, 1_000);
    policy.role('Role r', [...rules, core('get', 'pods'), ...rules], 'n');
    assert.equal(policy.allows(alice, 'GET /api/v1/namespaces/n/pods/p-1000'), true);
  });

  it('leaves out what takes more than half of the memory that others leave, and takes it in when there is room', () => {
    const said: string[] = [];
    const memory = new PolicyMemory(
      40_000,
      (namespace) => said.push(`left out ${namespace}`),
      (namespace) => said.push(`room ${namespace}`),
    );
    const index = new PolicyIndex(memory);
    const authorizer = new RbacAuthorizer(index, group);
    const decide = (who: string, namespace: string) =>
      authorizer.authorize(attributesOfRequest(user(who), `GET /api/v1/namespaces/${namespace}/pods/p`));
    const role = (name: string, namespace: string) => {
      const rules = Array.from({ length: 3 }, (_, i) => core('get', `pods r${i}`));
      index.setRole({ metadata: metadata(name, namespace), rules } as ClusterRole, 'Role');
      index.setBinding(binding(name, namespace, `Role ${name}`, [`User ${name}`]));
    };
    for (let i = 0; i < 30; i++) role(`greedy-${i}`, 'a');
    assert.equal(decide('greedy-0', 'a').decision, 'allow');
    assert.equal(decide('greedy-29', 'a').decision, 'noOpinion');
    assert.match(decide('greedy-29', 'a').reason, /some roles and bindings of the namespace are not in force/);
    assert.ok(memory.bytes <= 20_000 && memory.leftOutCount > 0, `${memory.bytes} bytes`);
    role('modest', 'b');
    assert.equal(decide('modest', 'b').decision, 'allow');
    assert.equal(decide('modest', 'b').reason.includes('not in force'), false);
    assert.ok(said.every((one) => one === 'left out a'));
    for (let i = 0; i < 4; i++) index.deleteRole('Role', 'a', `greedy-${i}`);
    assert.equal(said.at(-1), 'room a');
    const marks = [...memory.leftOutOf('a')];
    role('greedy-29', 'a');
    assert.equal(decide('greedy-29', 'a').decision, 'allow');
    for (const [key, mark] of marks) {
      assert.equal(memory.isStillLeftOut('a', key, mark), !key.endsWith('/greedy-29'), key);
    }
  });

  it('removes objects that a fresh list lacks, but none of other kinds', () => {
    const policy = new Policy()
      .role('ClusterRole c', [core('get', 'pods')])
      .bind('wide', '', 'ClusterRole c', 'User carol')
      .bind('a', 'n', 'ClusterRole c', 'User alice')
      .bind('b', 'n', 'ClusterRole c', 'User bob');
    const kept = atOnce(CompiledBinding.inSteps(binding('b', 'n', 'ClusterRole c', ['User bob', 'User dan'])));
    atOnce(policy.index.replacingBindings([kept], true));
    const allowed = ['alice', 'bob', 'carol', 'dan'].filter((name) => policy.allows(user(name), request));
    assert.deepEqual(allowed, ['bob', 'carol', 'dan']);
    atOnce(policy.index.replacingRoles([], 'Role'));
    assert.equal(policy.allows(user('bob'), request), true);
    atOnce(policy.index.replacingRoles([], 'ClusterRole'));
    assert.equal(policy.allows(user('bob'), request), false);
    policy.role('ClusterRole c', [core('get', 'pods')]);
    assert.equal(policy.allows(user('bob'), request), true);
    atOnce(policy.index.replacingBindings([], false));
    assert.equal(policy.allows(user('carol'), request), false);
  });
});

describe('FreshPolicyAuthorizer', () => {
  it('decides by the last known policy for 30 seconds, then refuses', () => {
    const policy = new Policy().role('ClusterRole r', [core('*', '*')]).bind('b', '', 'ClusterRole r', 'User alice');
    const place = { lostForMs: 0 };
    const authorizer = new FreshPolicyAuthorizer(policy.authorizer, place);
    const attributes = attributesOfRequest(user('alice'), 'GET /api/v1/pods');
    assert.equal(authorizer.authorize(attributes).decision, 'allow');
    place.lostForMs = maxLostMs;
    assert.equal(authorizer.authorize(attributes).decision, 'allow');
    place.lostForMs = maxLostMs + 1;
    assert.throws(() => authorizer.authorize(attributes), { code: 503 });
  });
});
