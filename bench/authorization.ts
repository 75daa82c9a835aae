import { parseArgs } from 'node:util';
import { attributesOf } from '../src/base/machinery/authorizer.js';
import type { UserInfo } from '../src/base/machinery/request-context.js';
import { groupName, vendorNames } from '../src/base/machinery/vendor.js';
import type { ClusterRole, PolicyRule, Role } from '../src/objects/apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../src/objects/apis/rbac/v1/role-binding.types.js';
import { AuthorizationGuard } from '../src/server/authorization/authorization.guard.js';
import { PrivilegedGroupAuthorizer } from '../src/server/authorization/privileged-group.authorizer.js';
import { bootstrapPolicy } from '../src/server/authorization/rbac/bootstrap/bootstrap-policy.js';
import { PolicyIndex } from '../src/server/authorization/rbac/policy-index.js';
import { RbacAuthorizer } from '../src/server/authorization/rbac/rbac.authorizer.js';
import { UnionAuthorizer } from '../src/server/authorization/union.authorizer.js';
import { parseRequestInfo } from '../src/server/endpoints/request-info/request-info.js';

/*
 * Decisions by RBAC with 10,000 bindings of 2,000 users and 500 groups in 1,000 namespaces, on top of the default
 * policy. Prints one JSON line per case: time per decision (p50, p99, longest, by the clock) and processor time. `decide`
 * is the module alone, `guard` the whole guard as a request meets it, with its attributes made from the URL.
 */

const { values: flags } = parseArgs({
  options: { bindings: { type: 'string', default: '10000' }, decisions: { type: 'string', default: '200000' } },
});
const bindingCount = Number(flags.bindings);
const decisions = Number(flags.decisions);

const names = vendorNames('k8s.io');
const group = groupName('rbac', names);
const namespaceCount = 1000;
const userCount = 2000;
const groupCount = 500;

const index = new PolicyIndex();
const policy = bootstrapPolicy(names);
for (const role of policy.clusterRoles) index.setRole(role, 'ClusterRole');
for (const role of policy.roles) index.setRole(role, 'Role');
for (const binding of [...policy.clusterRoleBindings, ...policy.roleBindings]) index.setBinding(binding);

function meta(name: string, namespace?: string): Role['metadata'] {
  return { name, ...(namespace === undefined ? {} : { namespace }) } as Role['metadata'];
}

const ruleSets: PolicyRule[][] = Array.from({ length: 20 }, (_, i) => [
  { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'pods/log', 'services', `kind${i}`] },
  { verbs: ['create', 'update'], apiGroups: ['apps'], resources: ['deployments', 'deployments/scale'] },
  { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: [`secret-${i}`] },
]);
for (const [i, rules] of ruleSets.entries()) {
  index.setRole({ metadata: meta(`team-${i}`), rules } as ClusterRole, 'ClusterRole');
}

const fillStart = process.hrtime.bigint();
for (let i = 0; i < bindingCount; i++) {
  const subjects: Subject[] = [
    { kind: 'User', apiGroup: group, name: `user-${i % userCount}` },
    { kind: 'Group', apiGroup: group, name: `group-${i % groupCount}` },
    { kind: 'ServiceAccount', namespace: `ns-${i % namespaceCount}`, name: 'default' },
  ];
  const isClusterWide = i % 5 === 0;
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: `team-${i % 20}` };
  const metadata = meta(`binding-${i}`, isClusterWide ? undefined : `ns-${i % namespaceCount}`);
  index.setBinding({ metadata, subjects, roleRef } as RoleBinding | ClusterRoleBinding);
}
const fillMs = Number(process.hrtime.bigint() - fillStart) / 1e6;
console.log(JSON.stringify({ what: 'fill', bindings: bindingCount, ms: Math.round(fillMs) }));

function user(name: string, groups: readonly string[]): UserInfo {
  return { name, uid: '', groups: [...groups, 'system:authenticated'], extra: {} };
}

const twenty = Array.from({ length: 20 }, (_, i) => `group-${i}`);
const cases: { what: string; user: UserInfo; method: string; url: string }[] = [
  { what: 'allowed by own binding', user: user('user-7', []), method: 'GET', url: '/api/v1/namespaces/ns-7/pods/p' },
  {
    what: 'allowed, 20 groups',
    user: user('nobody', twenty),
    method: 'GET',
    url: '/api/v1/namespaces/ns-19/pods?watch=1',
  },
  { what: 'denied, no group', user: user('nobody', []), method: 'GET', url: '/api/v1/namespaces/ns-7/pods/p' },
  {
    what: 'denied, 20 groups',
    user: user('user-7', twenty),
    method: 'DELETE',
    url: '/apis/networking.k8s.io/v1/namespaces/ns-7/ingresses/i',
  },
  { what: 'discovery, 20 groups', user: user('user-7', twenty), method: 'GET', url: '/apis/apps/v1' },
  {
    what: 'system:masters',
    user: user('admin', ['system:masters']),
    method: 'GET',
    url: '/api/v1/namespaces/ns-7/pods/p',
  },
];

const rbac = new RbacAuthorizer(index, group);
const union = new UnionAuthorizer([new PrivilegedGroupAuthorizer(), rbac]);
const guard = new AuthorizationGuard(union, { decided: () => undefined });

function report(what: string, how: string, times: Float64Array, cpu: NodeJS.CpuUsage): void {
  times.sort();
  const at = (share: number): number => Number((times[Math.floor((times.length - 1) * share)] as number).toFixed(2));
  const cpuUs = Number(((cpu.user + cpu.system) / times.length).toFixed(2));
  console.log(JSON.stringify({ what, how, p50Us: at(0.5), p99Us: at(0.99), maxUs: at(1), cpuUsEach: cpuUs }));
}

const noQuery = new URLSearchParams();
for (const { what, user: who, method, url } of cases) {
  const [path = '', query] = url.split('?');
  const parameters = query === undefined ? noQuery : new URLSearchParams(query);
  const attributes = attributesOf(who, parseRequestInfo(method, path, parameters));
  const times = new Float64Array(decisions);
  for (let i = 0; i < 20_000; i++) void union.authorize(attributes);
  let began = process.cpuUsage();
  for (let i = 0; i < decisions; i++) {
    const start = process.hrtime.bigint();
    void union.authorize(attributes);
    times[i] = Number(process.hrtime.bigint() - start) / 1000;
  }
  report(what, 'decide', times, process.cpuUsage(began));

  const some = times.subarray(0, Math.min(decisions, 50_000));
  began = process.cpuUsage();
  for (let i = 0; i < some.length; i++) {
    const start = process.hrtime.bigint();
    const request = { plinthContext: { user: who, requestInfo: parseRequestInfo(method, path, parameters) } };
    const host = { switchToHttp: () => ({ getRequest: () => request }) };
    try {
      const answer = guard.canActivate(host as never);
      if (answer instanceof Promise) await answer;
    } catch {
      // The denial and its message are part of the cost.
    }
    some[i] = Number(process.hrtime.bigint() - start) / 1000;
  }
  report(what, 'guard', some, process.cpuUsage(began));
}
