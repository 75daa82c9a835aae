import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { FlowSchema } from '../../objects/apis/flowcontrol/v1/flow-schema.types.js';
import { parseRequestInfo } from '../endpoints/request-info/request-info.js';
import { defaultLevels, defaultSchemas } from './default-objects.js';
import { FlowControl } from './flow-control.js';
import { matcherOf } from './flow-matcher.js';
import { SimulatedTime } from './testing/flow-simulation.js';

const userOf = (name: string, ...groups: string[]) => ({ name, uid: '', groups, extra: {} });
const infoOf = (method: string, url: string) => {
  const [path = '', query = ''] = url.split('?');
  return parseRequestInfo(method, path, new URLSearchParams(query));
};
const ignore = { requestRejected: () => undefined, setInFlight: () => undefined };
const unknown = () => ({ objects: undefined, isInMemory: false, watchers: 0 });

describe('the default schemas', () => {
  const names = vendorNames('k8s.io', 'kubernetes');
  const control = new FlowControl({ readOnly: 400, mutating: 200 }, new SimulatedTime(), unknown, ignore);
  const settings = <Spec>(all: readonly { name: string; spec: Spec }[]) => all.map((one) => ({ ...one, uid: '' }));
  control.apply(settings(defaultLevels()), settings(defaultSchemas(names)));

  const node = userOf('system:node:a', 'system:nodes', 'system:authenticated');
  const manager = userOf('system:kube-controller-manager', 'system:authenticated');
  const loop = userOf('system:serviceaccount:kube-system:x', 'system:serviceaccounts', 'system:authenticated');
  const account = userOf('system:serviceaccount:team:x', 'system:serviceaccounts', 'system:authenticated');
  const alice = userOf('alice', 'system:authenticated');
  const anonymous = userOf('system:anonymous', 'system:unauthenticated');
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a';
  const cases: readonly (readonly [ReturnType<typeof userOf>, string, string, string, string])[] = [
    [userOf('root', 'system:masters'), 'GET', '/api/v1/pods', 'exempt', 'exempt'],
    [anonymous, 'GET', '/readyz', 'probes', 'exempt'],
    [anonymous, 'GET', '/readyz/ping', 'global-default', 'global-default'],
    [anonymous, 'POST', '/readyz', 'global-default', 'global-default'],
    [node, 'PUT', lease, 'system-node-high', 'node-high'],
    [node, 'PATCH', '/api/v1/nodes/a/status', 'system-node-high', 'node-high'],
    [node, 'GET', '/api/v1/namespaces/a/pods/b', 'system-nodes', 'system'],
    [node, 'GET', '/version', 'system-nodes', 'system'],
    [manager, 'PUT', lease, 'system-leader-election', 'leader-election'],
    [manager, 'DELETE', lease, 'kube-controller-manager', 'workload-high'],
    [manager, 'PUT', '/api/v1/namespaces/a/endpoints/b', 'kube-controller-manager', 'workload-high'],
    [loop, 'PUT', '/api/v1/namespaces/a/configmaps/b', 'kube-system-service-accounts', 'workload-high'],
    [loop, 'GET', '/api/v1/namespaces/a/pods', 'kube-system-service-accounts', 'workload-high'],
    [account, 'PUT', lease, 'service-accounts', 'workload-low'],
    [alice, 'GET', '/api/v1/pods?watch=true', 'global-default', 'global-default'],
    [userOf('odd'), 'GET', '/api', 'catch-all', 'catch-all'],
  ];
  for (const [user, method, url, schema, level] of cases) {
    it(`sort ${method} ${url} of ${user.name} into ${schema}`, () => {
      const found = control.schemaOf(user, infoOf(method, url));
      assert.deepEqual([found.name, found.level.name], [schema, level]);
    });
  }

  it('distinguish flows by user or by namespace', () => {
    const flow = (user: ReturnType<typeof userOf>, url: string) => {
      const info = infoOf('GET', url);
      return control.schemaOf(user, info).distinguisherOf(user, info);
    };
    assert.equal(flow(alice, '/api/v1/namespaces/a/pods'), 'alice');
    assert.equal(flow(manager, '/api/v1/namespaces/a/pods'), 'a');
    assert.equal(flow(userOf('root', 'system:masters'), '/api/v1/namespaces/a/pods'), '');
  });

  it('come in the order of precedence, then of names', () => {
    const spec = (precedence: number, level = 'system'): FlowSchema['spec'] => ({
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: '*' } }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    });
    const schemas = [
      { name: 'z', uid: '', spec: spec(5) },
      { name: 'b', uid: '', spec: spec(7) },
      { name: 'a', uid: '', spec: spec(7) },
      // This schema has no level, so it is ignored.
      { name: 'dangling', uid: '', spec: spec(2, 'none') },
    ];
    const firstOf = (all: typeof schemas) => {
      control.apply(settings(defaultLevels()), all);
      return control.schemaOf(alice, infoOf('GET', '/api')).name;
    };
    assert.equal(firstOf(schemas), 'z');
    assert.equal(firstOf(schemas.slice(1)), 'a');
  });
});

describe('a rule', () => {
  const match = (subject: object, rule: object, user: ReturnType<typeof userOf>, method: string, url: string) =>
    matcherOf({
      spec: {
        priorityLevelConfiguration: { name: 'x' },
        matchingPrecedence: 1,
        rules: [{ subjects: [subject], ...rule }],
      } as unknown as FlowSchema['spec'],
    })(user, infoOf(method, url));
  const anybody = { kind: 'Group', group: { name: '*' } };
  const pods = { verbs: ['list'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] };
  const cases: readonly (readonly [object, string, boolean])[] = [
    [pods, '/api/v1/namespaces/a/pods', true],
    [pods, '/api/v1/namespaces/b/pods', false],
    [pods, '/api/v1/pods', false],
    [{ ...pods, clusterScope: true }, '/api/v1/pods', true],
    [{ ...pods, clusterScope: true, namespaces: [] }, '/api/v1/namespaces/a/pods', false],
    [{ ...pods, namespaces: ['*'] }, '/api/v1/pods', false],
    [{ ...pods, verbs: ['get'] }, '/api/v1/namespaces/a/pods', false],
    [{ ...pods, verbs: ['get'] }, '/api/v1/namespaces/a/pods/x/log', false],
    [{ ...pods, verbs: ['get'], resources: ['pods/log'] }, '/api/v1/namespaces/a/pods/x/log', true],
    [{ ...pods, apiGroups: ['apps'] }, '/api/v1/namespaces/a/pods', false],
    [pods, '/version', false],
  ];
  for (const [rule, url, expected] of cases) {
    it(`${JSON.stringify(rule)} ${expected ? 'applies' : 'does not apply'} to ${url}`, () => {
      assert.equal(match(anybody, { resourceRules: [rule] }, userOf('u'), 'GET', url), expected);
    });
  }
  const paths: readonly (readonly [string, string, boolean])[] = [
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/ping', false],
    ['/healthz/*', '/healthz/ping', true],
    ['/healthz/*', '/healthz', false],
    ['*', '/anything', true],
  ];
  for (const [rule, url, expected] of paths) {
    it(`the path ${rule} ${expected ? 'applies' : 'does not apply'} to ${url}`, () => {
      const rules = { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [rule] }] };
      assert.equal(match(anybody, rules, userOf('u'), 'GET', url), expected);
    });
  }
  const account = (namespace: string, name: string) => ({
    kind: 'ServiceAccount',
    serviceAccount: { namespace, name },
  });
  const subjects: readonly (readonly [object, string, boolean])[] = [
    [{ kind: 'User', user: { name: 'u' } }, 'u', true],
    [{ kind: 'User', user: { name: 'u' } }, 'v', false],
    [{ kind: 'User', user: { name: '*' } }, 'v', true],
    [{ kind: 'Group', group: { name: 'g' } }, 'v', false],
    [account('n', 'a'), 'system:serviceaccount:n:a', true],
    [account('n', 'a'), 'system:serviceaccount:n:ab', false],
    [account('n', '*'), 'system:serviceaccount:n:ab', true],
    [account('n', '*'), 'system:serviceaccount:nn:ab', false],
  ];
  for (const [subject, name, expected] of subjects) {
    it(`the subject ${JSON.stringify(subject)} is ${expected ? '' : 'not '}${name}`, () => {
      const rules = { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['*'] }] };
      assert.equal(match(subject, rules, userOf(name), 'GET', '/'), expected);
    });
  }
});
