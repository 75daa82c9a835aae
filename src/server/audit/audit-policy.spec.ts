import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';
import { AuditPolicyError } from './audit-policy-error.js';
import { readPolicy } from './policy-document.js';

const apiVersion = 'audit.k8s.io/v1';
const user: UserInfo = { name: 'alice', uid: '', groups: ['devs', 'system:authenticated'], extra: {} };

function info(more: Partial<RequestInfo>): RequestInfo {
  return {
    isResourceRequest: true,
    path: '',
    verb: 'get',
    apiPrefix: 'api',
    apiGroup: '',
    apiVersion: 'v1',
    namespace: 'a',
    resource: 'pods',
    subresource: '',
    name: 'p',
    parts: [],
    ...more,
  };
}

const other = (path: string) => info({ isResourceRequest: false, path, resource: '', namespace: '', name: '' });

/** Whether a policy with one rule records a request. */
function wants(rule: object, requestInfo: RequestInfo, sender: UserInfo | undefined = user): boolean {
  const policy = readPolicy({ apiVersion, kind: 'Policy', rules: [{ level: 'Metadata', ...rule }] }, apiVersion);
  return policy.ruleFor({ user: sender, requestInfo }) !== undefined;
}

const core = (...resources: string[]) => ({ resources: [{ group: '', resources }] });

describe('the audit policy', () => {
  const cases: readonly (readonly [string, object, RequestInfo, boolean])[] = [
    ['a rule without restrictions', {}, info({}), true],
    ['and for other paths', {}, other('/healthz'), true],
    ['another user', { users: ['bob'] }, info({}), false],
    ['one of the groups', { userGroups: ['admins', 'devs'] }, info({}), true],
    ['another verb', { verbs: ['create'] }, info({}), false],
    ['another group of resources', { resources: [{ group: 'apps' }] }, info({}), false],
    ['a group without resources', { resources: [{ group: '' }] }, info({ subresource: 'log' }), true],
    ['the resource for a subresource', core('pods'), info({ subresource: 'log' }), false],
    ['a subresource', core('pods/log'), info({ subresource: 'log' }), true],
    ['a subresource for the resource', core('pods/log'), info({}), false],
    ['all subresources', core('pods/*'), info({ subresource: 'exec' }), true],
    ['the resource for all subresources', core('pods/*'), info({}), true],
    ['a subresource of everything', core('*/status'), info({ subresource: 'status' }), true],
    ['a subresource of everything for another one', core('*/status'), info({ subresource: 'scale' }), false],
    ['everything', core('*'), info({ subresource: 'scale' }), true],
    ['resources for other paths', core('*'), other('/api'), false],
    ['another namespace', { namespaces: ['b'] }, info({}), false],
    ['no namespace', { namespaces: [''] }, info({ namespace: '', resource: 'nodes' }), true],
    ['no namespace for other paths', { namespaces: [''] }, other('/api'), false],
    ['a path', { nonResourceURLs: ['/version'] }, other('/version'), true],
    ['a path for a longer one', { nonResourceURLs: ['/version'] }, other('/version/x'), false],
    ['the beginning of a path', { nonResourceURLs: ['/healthz*'] }, other('/healthz/ping'), true],
    ['every path', { nonResourceURLs: ['*'] }, other('/anything'), true],
    ['paths for resources', { nonResourceURLs: ['*'] }, info({}), false],
  ];
  for (const [name, rule, requestInfo, expected] of cases) {
    it(`${expected ? 'chooses' : 'passes over'} ${name}`, () => assert.equal(wants(rule, requestInfo), expected));
  }

  it('chooses single names', () => {
    const rule = { resources: [{ group: '', resources: ['pods', 'pods/log'], resourceNames: ['p'] }] };
    assert.equal(wants(rule, info({})), true);
    assert.equal(wants(rule, info({ name: 'q' })), false);
    assert.equal(wants(rule, info({ subresource: 'log' })), true);
    assert.equal(wants(rule, info({ name: '' })), false);
  });

  it('passes over rules about users where the sender is not known', () => {
    const unknown = (rule: object) => {
      const policy = readPolicy({ apiVersion, kind: 'Policy', rules: [{ level: 'Request', ...rule }] }, apiVersion);
      return policy.ruleFor({ user: undefined, requestInfo: info({}) }) !== undefined;
    };
    assert.deepEqual(
      [unknown({ users: ['alice'] }), unknown({ userGroups: ['devs'] }), unknown({})],
      [false, false, true],
    );
  });

  it('lets the first rule decide, also when it wants nothing', () => {
    const rules = [
      { level: 'None', users: ['alice'] },
      { level: 'Request', omitStages: ['Panic'], omitManagedFields: false },
      { level: 'Metadata' },
    ];
    const document = { apiVersion, kind: 'Policy', omitStages: ['RequestReceived'], omitManagedFields: true, rules };
    const policy = readPolicy(document, apiVersion);
    assert.equal(policy.ruleFor({ user, requestInfo: info({}) }), undefined);
    const rule = policy.ruleFor({ user: { ...user, name: 'bob' }, requestInfo: info({}) });
    assert.equal(rule?.level, 'Request');
    assert.deepEqual([...(rule?.omitStages ?? [])], ['RequestReceived', 'Panic']);
    assert.equal(rule?.omitManagedFields, false);
    assert.equal(policy.rules[2]?.omitManagedFields, true);
  });

  it('reports everything that is wrong at once, with the places', () => {
    const rules = [
      { level: 'Everything', user: ['a'] },
      {
        level: 'Metadata',
        verbs: 'get',
        omitStages: ['Never'],
        nonResourceURLs: ['healthz', '/a*b'],
        namespaces: ['x'],
      },
      {
        level: 'None',
        resources: [{ group: 'apps/v1', resourceNames: ['x'] }, { group: '', resources: ['pods/log/x', '*/*', 7] }, 3],
      },
      'rule',
    ];
    const document = { apiVersion: 'audit.k8s.io/v1beta1', kind: 'Polici', rule: [], omitManagedFields: 'yes', rules };
    const refuse = () => readPolicy(document, apiVersion);
    assert.throws(refuse, (error) => {
      assert.ok(error instanceof AuditPolicyError);
      const places = error.problems.map((problem) => problem.split(': ')[0]);
      assert.deepEqual(places, [
        'kind',
        'apiVersion',
        'rule',
        'omitManagedFields',
        'rules[3]',
        'rules[0].user',
        'rules[0].level',
        'rules[1].nonResourceURLs',
        'rules[1].nonResourceURLs[0]',
        'rules[1].nonResourceURLs[1]',
        'rules[1].omitStages[0]',
        'rules[1].verbs',
        'rules[2].resources[2]',
        'rules[2].resources[0].group',
        'rules[2].resources[0].resourceNames',
        'rules[2].resources[1].resources[2]',
        'rules[2].resources[1].resources[0]',
        'rules[2].resources[1].resources[1]',
      ]);
      return true;
    });
  });

  it('needs a rule', () => {
    for (const document of [{ apiVersion, kind: 'Policy' }, { apiVersion, kind: 'Policy', rules: [] }, null, 'x', []]) {
      assert.throws(() => readPolicy(document, apiVersion), AuditPolicyError);
    }
  });
});
