import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOfRequest } from '../../../../test/support/request-attributes.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { AbacAuthorizer } from './abac.authorizer.js';
import { parsePolicies } from './policy-file.js';
import { PolicyFileError } from './policy-file-error.js';

const names = vendorNames('k8s.io');
const apiVersion = 'abac.authorization.k8s.io/v1beta1';

function line(spec: object): string {
  return JSON.stringify({ apiVersion, kind: 'Policy', spec });
}

function user(name: string, ...groups: string[]): UserInfo {
  return { name, uid: '', groups: [...groups, 'system:authenticated'], extra: {} };
}

const anonymous: UserInfo = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };

/** Whether one line allows a request such as `GET /api/v1/pods`. */
function allows(text: string, who: UserInfo, request: string): boolean {
  const authorizer = new AbacAuthorizer(parsePolicies(text, 'file', names).policies);
  return authorizer.authorize(attributesOfRequest(who, request)).decision === 'allow';
}

describe('policies of a version', () => {
  const inDefault = 'GET /api/v1/namespaces/default/pods';

  it('match by user, by group, or by both', () => {
    const rest = { namespace: '*', resource: '*', apiGroup: '*' };
    const cases: readonly (readonly [object, UserInfo, boolean])[] = [
      [{ user: 'a' }, user('a'), true],
      [{ user: 'a' }, user('b'), false],
      [{ group: 'g' }, user('b', 'g'), true],
      [{ group: 'g' }, user('g'), false],
      [{ user: 'a', group: 'g' }, user('a', 'g'), true],
      [{ user: 'a', group: 'g' }, user('a'), false],
      [{ user: 'a', group: 'g' }, user('b', 'g'), false],
      [{ user: '*' }, user('anybody'), true],
      [{ group: '*' }, user('anybody'), true],
      [{ user: '*' }, anonymous, false],
      [{ user: 'a', group: '*' }, user('b'), false],
      [{ user: '*', group: 'g' }, user('b'), false],
      [{ user: '*', group: 'g' }, user('b', 'g'), true],
      [{ group: 'system:unauthenticated' }, anonymous, true],
      [{}, user('a'), false],
      [{ user: '__proto__' }, user('a'), false],
    ];
    for (const [spec, who, expected] of cases) {
      assert.equal(allows(line({ ...spec, ...rest }), who, inDefault), expected, JSON.stringify([spec, who]));
    }
  });

  it('match by the requested resource or path', () => {
    const cases: readonly (readonly [object, string, boolean])[] = [
      [{ resource: 'pods', namespace: 'default' }, inDefault, true],
      [{ resource: 'pods', namespace: 'default' }, `${inDefault}/p/log`, true],
      [{ resource: 'pods', namespace: 'other' }, inDefault, false],
      [{ resource: 'pods' }, inDefault, false],
      [{ resource: 'nodes' }, 'GET /api/v1/nodes', true],
      [{ resource: 'pods', namespace: '*', apiGroup: 'apps' }, inDefault, false],
      [{ resource: 'deployments', namespace: '*' }, 'GET /apis/apps/v1/deployments', false],
      [{ resource: 'deployments', namespace: '*', apiGroup: '*' }, 'GET /apis/apps/v1/deployments', true],
      [{ resource: '*', namespace: '*', apiGroup: '*' }, 'DELETE /api/v1/nodes/n', true],
      [{ resource: '*', namespace: '*', apiGroup: '*' }, 'GET /healthz', false],
      [{ resource: '*', namespace: '*', readonly: true }, inDefault, true],
      [{ resource: '*', namespace: '*', readonly: true }, `${inDefault}?watch=1`, true],
      [{ resource: '*', namespace: '*', readonly: true }, inDefault.replace('GET', 'POST'), false],
      [{ resource: '*', namespace: '*', readonly: true }, inDefault.replace('GET', 'DELETE'), false],
      [{ nonResourcePath: '/healthz' }, 'GET /healthz', true],
      [{ nonResourcePath: '/healthz' }, 'GET /healthz/etcd', false],
      [{ nonResourcePath: '/healthz/*' }, 'GET /healthz/etcd', true],
      [{ nonResourcePath: '/healthz*' }, 'GET /healthz', true],
      [{ nonResourcePath: '*' }, 'POST /anything', true],
      [{ nonResourcePath: '*' }, inDefault, false],
      [{ nonResourcePath: '*', readonly: true }, 'POST /anything', false],
      [{ nonResourcePath: '' }, 'GET /', false],
    ];
    for (const [spec, request, expected] of cases) {
      assert.equal(allows(line({ user: 'a', ...spec }), user('a'), request), expected, JSON.stringify([spec, request]));
    }
  });

  it('are listed for a namespace', () => {
    const text = [
      line({ user: 'a', namespace: 'one', resource: 'pods', apiGroup: '*', readonly: true }),
      line({ user: 'a', namespace: 'two', resource: 'secrets' }),
      line({ user: 'b', namespace: '*', resource: '*' }),
      line({ group: 'g', nonResourcePath: '/x*' }),
    ].join('\n');
    const authorizer = new AbacAuthorizer(parsePolicies(text, 'file', names).policies);
    assert.deepEqual(authorizer.rulesFor(user('a', 'g'), 'one'), {
      resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: ['*'], resources: ['pods'], resourceNames: [] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x*'] }],
      incomplete: false,
      evaluationError: '',
    });
  });
});

describe('rules for users who grant rights', () => {
  const rulesOf = (spec: object, namespace: string) =>
    new AbacAuthorizer(parsePolicies(line({ user: 'a', ...spec }), 'file', names).policies).rulesFor(
      user('a'),
      namespace,
    ).resourceRules;
  const all = { resource: '*', apiGroup: '*' };

  it('leave out lines without a namespace, which apply to fewer requests', () => {
    assert.deepEqual(rulesOf(all, ''), []);
    assert.deepEqual(rulesOf(all, 'default'), []);
    assert.deepEqual(rulesOf({ ...all, namespace: 'default' }, ''), []);
    assert.equal(rulesOf({ ...all, namespace: 'default' }, 'default').length, 1);
    assert.equal(rulesOf({ ...all, namespace: '*' }, '').length, 1);
  });

  it('leave out resources that a line can not apply to', () => {
    assert.deepEqual(rulesOf({ resource: 'pods/exec', namespace: '*' }, ''), []);
    assert.deepEqual(rulesOf({ resource: '*/scale', namespace: '*' }, 'default'), []);
  });

  it('leave out verbs that a line does not allow', () => {
    const rbac = { namespace: '*', apiGroup: 'rbac.authorization.k8s.io' };
    for (const resource of ['*', 'roles', 'clusterroles']) {
      assert.deepEqual(rulesOf({ ...rbac, resource }, '')[0]?.verbs, [
        'get',
        'list',
        'watch',
        'create',
        'update',
        'patch',
        'delete',
        'deletecollection',
      ]);
    }
    assert.deepEqual(rulesOf({ ...all, namespace: '*' }, '')[0]?.verbs, ['*']);
    assert.deepEqual(rulesOf({ namespace: '*', resource: 'pods' }, '')[0]?.verbs, ['*']);
  });

  it('let only a line about everything grant or borrow rights', () => {
    const allowed = (spec: object, verb: string, resource: string, apiGroup: string) => {
      const { policies } = parsePolicies(line({ user: 'a', ...spec }), 'file', names);
      const asked = { ...attributesOfRequest(user('a'), 'GET /api/v1/nodes/x'), verb, resource, apiGroup };
      return new AbacAuthorizer(policies).authorize(asked).decision === 'allow';
    };
    const rbac = 'rbac.authorization.k8s.io';
    const lines: readonly object[] = [
      all,
      { ...all, namespace: '*', apiGroup: rbac },
      { resource: 'clusterroles', apiGroup: rbac },
    ];
    for (const spec of lines) {
      for (const verb of ['escalate', 'bind']) {
        assert.equal(allowed(spec, verb, 'clusterroles', rbac), false, JSON.stringify([spec, verb]));
      }
      assert.equal(allowed(spec, 'update', 'clusterroles', rbac), true, JSON.stringify(spec));
    }
    assert.equal(allowed(all, 'impersonate', 'groups', ''), false);
    assert.equal(allowed(all, 'impersonate:user-info', 'users', 'authentication.k8s.io'), false);
    assert.equal(allowed(all, 'impersonate-on:user-info:get', 'pods', ''), false);
    for (const verb of ['approve', 'sign']) {
      assert.equal(allowed(all, verb, 'signers', 'certificates.k8s.io'), false);
      assert.equal(allowed({ resource: 'signers', apiGroup: '*' }, verb, 'signers', 'certificates.k8s.io'), true);
    }
    assert.equal(allowed({ resource: 'groups' }, 'impersonate', 'groups', ''), true);
    assert.equal(allowed({ ...all, namespace: '*' }, 'impersonate', 'groups', ''), true);
    assert.equal(allowed({ ...all, namespace: '*' }, 'escalate', 'clusterroles', rbac), true);
  });
});

describe('policies without a version', () => {
  it('match everything where a field is missing', () => {
    const pods = 'GET /api/v1/namespaces/default/pods';
    const cases: readonly (readonly [object, UserInfo, string, boolean])[] = [
      [{ user: 'a' }, user('a'), pods, true],
      [{ user: 'a' }, user('a'), 'POST /x', true],
      [{ user: 'a' }, user('b'), pods, false],
      [{}, user('b'), pods, true],
      [{}, anonymous, pods, false],
      [{ readonly: true }, user('b'), pods, true],
      [{ readonly: true }, user('b'), pods.replace('GET', 'POST'), false],
      [{ user: 'a', resource: 'pods' }, user('a'), pods, true],
      [{ user: 'a', resource: 'pods' }, user('a'), 'GET /x', false],
      [{ user: 'a', namespace: 'other' }, user('a'), pods, false],
      [{ user: 'a', namespace: 'default' }, user('a'), 'GET /x', false],
    ];
    for (const [spec, who, request, expected] of cases) {
      assert.equal(allows(JSON.stringify(spec), who, request), expected, JSON.stringify([spec, request]));
    }
    assert.equal(parsePolicies('{}\n# no\n{"user":"a"}', 'file', names).unversionedLines, 2);
  });
});

describe('policy files', () => {
  it('name the unusable line', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['{', /^file, line 3: is not JSON/],
      ['[]', /^file, line 3: is not a JSON object$/],
      ['null', /^file, line 3: is not a JSON object$/],
      [
        '{"apiVersion":"v1","kind":"Policy"}',
        /must be of kind Policy in apiVersion abac\.authorization\.k8s\.io\/v1beta1/,
      ],
      [`{"apiVersion":"${apiVersion}","kind":"Role"}`, /must be of kind Policy/],
      [`{"apiVersion":"${apiVersion}"}`, /must be of kind Policy/],
      [`{"apiVersion":"${apiVersion}","kind":"Policy","spec":[]}`, /spec must be an object$/],
      [`{"apiVersion":"${apiVersion}","kind":"Policy","user":"a"}`, /has unknown fields: user$/],
      [line({ user: 1 }), /user must be a string$/],
      [line({ readonly: 'true' }), /readonly must be true or false$/],
      [line({ readOnly: true }), /has unknown fields: readOnly$/],
      ['{"apiGroup":"x"}', /has unknown fields: apiGroup$/],
    ];
    for (const [text, message] of cases) {
      const parse = () => parsePolicies(`\n  # comment\n${text}`, 'file', names);
      assert.throws(parse, (error: unknown) => error instanceof PolicyFileError && message.test(error.message), text);
    }
    assert.deepEqual(parsePolicies('\r\n  \r\n# a\r\n', 'file', names), { policies: [], unversionedLines: 0 });
  });

  it('have the version of the vendor', () => {
    const text = JSON.stringify({ apiVersion: 'abac.authorization.example.dev/v1beta1', kind: 'Policy', spec: {} });
    assert.equal(parsePolicies(text, 'file', vendorNames('example.dev')).policies.length, 1);
  });
});
