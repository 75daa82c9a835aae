import { create, type HostileCase, type HostileRequest, many, paths, pod, role } from './cases.js';

const { bindings, budgets, clusterRoles, pods, roles, rulesReviews } = paths;
const json = 'application/json';
const group = 'rbac.authorization.k8s.io';

const post = (path: string, body: string): HostileRequest => ({
  method: 'POST',
  path,
  contentType: json,
  body: () => body,
});
const rule = (resource: string) => `{"apiGroups":[""],"resources":["${resource}"],"verbs":["get"]}`;
const grants = '{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"],"verbs":["create"]}';

function bind(name: string, subjects: string): string {
  return `{"metadata":{"name":"${name}"},"roleRef":{"apiGroup":"${group}","kind":"Role","name":"${name}"},"subjects":[${subjects}]}`;
}

const bob = `{"kind":"User","name":"bob","apiGroup":"${group}"}`;
/** Gives bob a role with very many rules, which he may grant to others. */
const held = (name: string, rules: string): HostileRequest[] => [
  post(roles, role(name, rules)),
  post(bindings, bind(name, bob)),
];

function budget(name: string, values: string): string {
  return `{"metadata":{"name":"${name}"},"spec":{"minAvailable":1,"selector":{"matchExpressions":[{"key":"a","operator":"In","values":[${values}]}]}}}`;
}

const running = (name: string): HostileRequest[] => [
  post(pods, pod(name, '', '', ',"labels":{"a":"b"}')),
  {
    method: 'PATCH',
    path: `${pods}/${name}/status`,
    contentType: 'application/merge-patch+json',
    body: () => '{"status":{"phase":"Running"}}',
  },
];
const evict = (name: string) => `{"metadata":{"name":"${name}"}}`;

/** Policies by others that a request meets: held rules, budgets, large policies in force. */
export const policyCases: readonly HostileCase[] = [
  create(
    'role, asterisks in a path',
    clusterRoles,
    () =>
      `{"metadata":{"name":"asterisks"},"rules":[{"verbs":["get"],"nonResourceURLs":["/${'*'.repeat(60_000)}x*"]}]}`,
  ),
  {
    ...create('role against 15,000 held rules', roles, () =>
      role('asked', Array.from({ length: 500 }, (_, i) => rule(`x${i}`)).join(',')),
    ),
    sender: 'bob',
    before: held('many-held', `${grants},${Array.from({ length: 15_000 }, (_, i) => rule(`r${i}`)).join(',')}`),
  },
  {
    ...create('role against one wide held rule', roles, () =>
      role(
        'asked-wide',
        `{"apiGroups":[""],"verbs":["get","list"],"resources":[${Array.from({ length: 5_000 }, (_, i) => `"r${i + 20_000}"`).join(',')}]}`,
      ),
    ),
    sender: 'bob',
    before: held(
      'wide-held',
      `${grants},{"apiGroups":[""],"verbs":["get"],"resources":[${Array.from({ length: 60_000 }, (_, i) => `"r${i}"`).join(',')}]}`,
    ),
  },
  {
    ...create('rules review of many rules', rulesReviews, () => '{"spec":{"namespace":"default"}}'),
    sender: 'bob',
    before: held(
      'many-reviewed',
      many((i) => rule(`s${i}`)),
    ),
  },
  {
    name: 'role with 50,000 rules, taken away',
    method: 'DELETE',
    path: `${roles}/many-away`,
    before: held(
      'many-away',
      many((i) => rule(`t${i}`)),
    ),
  },
  {
    name: 'binding with 35,000 subjects, taken away',
    method: 'DELETE',
    path: `${bindings}/subjects-away`,
    before: [
      post(roles, role('subjects-away', rule('pods'))),
      post(
        bindings,
        bind(
          'subjects-away',
          many((i) => `{"kind":"User","name":"u${i}","apiGroup":"${group}"}`),
        ),
      ),
    ],
  },
  {
    ...create('eviction among large budgets', `${pods}/evicted/eviction`, () => evict('evicted')),
    before: [
      ...running('evicted'),
      ...Array.from({ length: 3 }, (_, i) =>
        post(budgets, budget(`large-${i}`, Array.from({ length: 150_000 }, (_, n) => `"v${n}"`).join(','))),
      ),
    ],
  },
  {
    ...create('eviction among many budgets', `${pods}/evicted-too/eviction`, () => evict('evicted-too')),
    before: [
      ...Array.from({ length: 3 }, (_, i) => ({ method: 'DELETE', path: `${budgets}/large-${i}` })),
      ...running('evicted-too'),
      ...Array.from({ length: 200 }, (_, i) =>
        post(budgets, budget(`many-${i}`, Array.from({ length: 5_000 }, (_, n) => `"v${n}"`).join(','))),
      ),
    ],
  },
];
