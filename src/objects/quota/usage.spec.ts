import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testNames } from '../../../test/support/definition-tester.js';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { formatQuantity } from '../../base/machinery/values/quantity.js';
import type { Amounts } from './amounts.js';
import { claimUsage } from './claim-usage.js';
import { objectUsage } from './object-usage.js';
import { podUsage } from './pod-usage.js';
import { serviceUsage } from './service-usage.js';
import type { ScopeRequirement } from './usage-evaluator.js';

const pods = podUsage(testNames);
const claims = claimUsage(testNames);
const now = Date.UTC(2030, 0, 1);

const shown = (usage: Amounts) =>
  Object.fromEntries([...usage].map(([name, amount]) => [name, formatQuantity(amount)] as const));
const asObject = (value: object) => ({ metadata: {}, ...value }) as ApiObject;
const resources = (requests: object, limits: object = {}) => ({ resources: { requests, limits } });
const pod = (spec: object, more: object = {}) => asObject({ spec: { containers: [], ...spec }, status: {}, ...more });
const cpuOf = (spec: object) => shown(pods.usage(pod(spec), now))['requests.cpu'];

describe('the usage of a pod', () => {
  it('has requests and limits under all their names', () => {
    const containers = [
      resources(
        { cpu: '100m', memory: '1Gi', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2', 'ephemeral-storage': '1G' },
        { cpu: '1', 'example.com/gpu': '2' },
      ),
      resources({ cpu: '250m', memory: '512Mi' }),
    ];
    assert.deepEqual(shown(pods.usage(pod({ containers }), now)), {
      'count/pods': '1',
      pods: '1',
      cpu: '350m',
      'requests.cpu': '350m',
      memory: '1536Mi',
      'requests.memory': '1536Mi',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '2',
      'ephemeral-storage': '1G',
      'requests.ephemeral-storage': '1G',
      'limits.cpu': '1',
    });
  });

  const one = resources({ cpu: '1' });
  const sidecar = { ...resources({ cpu: '200m' }), restartPolicy: 'Always' };
  const sums: [string, object, string][] = [
    ['containers add up', { containers: [one, one] }, '2'],
    ['the largest init container counts', { containers: [one], initContainers: [resources({ cpu: '3' }), one] }, '3'],
    ['a small init container does not', { containers: [one, one], initContainers: [one] }, '2'],
    ['a sidecar runs beside the containers', { containers: [one], initContainers: [sidecar] }, '1200m'],
    [
      'and beside later init containers',
      { containers: [one], initContainers: [sidecar, resources({ cpu: '2' })] },
      '2200m',
    ],
    ['not beside earlier ones', { containers: [one], initContainers: [resources({ cpu: '2' }), sidecar] }, '2'],
    ['overhead is added', { containers: [one], overhead: { cpu: '5m' } }, '1005m'],
    ['the pod may say it all', { containers: [one], ...resources({ cpu: '10' }) }, '10'],
    [
      'exactly',
      { containers: [resources({ cpu: '9007199254740993' }), resources({ cpu: '1n' })] },
      '9007199254740993000000001n',
    ],
  ];
  for (const [about, spec, cpu] of sums) it(`: ${about}`, () => assert.equal(cpuOf(spec), cpu));

  it('has overhead in limits only where there are some', () => {
    const overhead = { cpu: '5m', memory: '1Mi' };
    const usage = shown(pods.usage(pod({ containers: [resources({}, { cpu: '1' })], overhead }), now));
    assert.equal(usage['limits.cpu'], '1005m');
    assert.equal(usage['limits.memory'], undefined);
  });

  it('is only the object once the pod has ended, or should have', () => {
    const spec = { containers: [one] };
    const gone = (deletionTimestamp: string) =>
      pod(spec, { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30 } });
    for (const phase of ['Failed', 'Succeeded']) {
      assert.deepEqual(shown(pods.usage(pod(spec, { status: { phase } }), now)), { 'count/pods': '1' });
    }
    assert.equal(pods.usage(gone('2029-12-31T23:59:30Z'), now).size, 4);
    assert.equal(pods.usage(gone('2029-12-31T23:59:29Z'), now).size, 1);
    assert.equal(pods.endsAt?.(gone('2029-12-31T23:59:30Z')), now);
  });

  it('rises by a status only when the pod comes back to life', () => {
    const rises = (from: object, to: object, path = 'status') => pods.mayRiseBy(path, pod({}, to), pod({}, from));
    const phase = (name?: string) => ({ status: name === undefined ? {} : { phase: name } });
    for (const ended of ['Failed', 'Succeeded']) {
      for (const other of ['Running', 'Pending', 'Unknown', 'Bogus', undefined]) {
        assert.ok(rises(phase(ended), phase(other)), `${ended} ${other}`);
        assert.ok(!rises(phase(other), phase(ended)));
      }
    }
    assert.ok(!rises(phase('Failed'), phase('Succeeded')) && !rises(phase('Pending'), phase('Running')));
    assert.ok(rises({}, {}, '') && rises({}, {}, 'resize') && !rises({}, {}, 'ephemeralcontainers'));
  });

  it('must be given for what quotas limit', () => {
    const limited = ['requests.cpu', 'limits.memory', 'requests.storage', 'requests.example.com/gpu', 'pods'];
    const missing = (spec: object) => pods.missing?.(pod(spec), limited);
    assert.deepEqual(missing({ containers: [{ ...one, name: 'b' }, { name: 'a' }] }), [
      'limits.memory for: a,b',
      'requests.cpu for: a',
    ]);
    assert.deepEqual(
      missing({ containers: [resources({ cpu: '1' }, { memory: '1' })], initContainers: [{ ...one, name: 'i' }] }),
      ['limits.memory for: i'],
    );
    assert.deepEqual(missing({ containers: [{ ...one, name: 'a' }], ...resources({}, {}) }), ['limits.memory for: a']);
    for (const shared of [resources({}, { memory: '1' }), resources({ memory: '1' }, {})]) {
      assert.deepEqual(missing({ containers: [{ name: 'a' }], ...shared }), []);
    }
  });

  const term = { topologyKey: 'z', namespaces: ['other'] };
  const scopes: [string, object, ScopeRequirement, boolean][] = [
    ['a deadline', { activeDeadlineSeconds: 0 }, { scopeName: 'Terminating', operator: 'Exists' }, true],
    ['no deadline', {}, { scopeName: 'NotTerminating', operator: 'Exists' }, true],
    ['no requests', {}, { scopeName: 'BestEffort', operator: 'Exists' }, true],
    ['requests', { containers: [one] }, { scopeName: 'NotBestEffort', operator: 'Exists' }, true],
    ['a class', { priorityClassName: 'a' }, { scopeName: 'PriorityClass', operator: 'Exists' }, true],
    ['no class', {}, { scopeName: 'PriorityClass', operator: 'Exists' }, false],
    ['a chosen class', { priorityClassName: 'a' }, { scopeName: 'PriorityClass', operator: 'In', values: ['a'] }, true],
    ['another class', { priorityClassName: 'b' }, { scopeName: 'PriorityClass', operator: 'In', values: ['a'] }, false],
    [
      'an excluded class',
      { priorityClassName: 'a' },
      { scopeName: 'PriorityClass', operator: 'NotIn', values: ['a'] },
      false,
    ],
    ['none to exclude', {}, { scopeName: 'PriorityClass', operator: 'NotIn', values: ['a'] }, true],
    ['no class asked for', {}, { scopeName: 'PriorityClass', operator: 'DoesNotExist' }, true],
    [
      'far affinity',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
      { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
      true,
    ],
    [
      'far affinity by labels',
      {
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey: 'z', namespaceSelector: {} } },
            ],
          },
        },
      },
      { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
      true,
    ],
    ['near affinity', { affinity: {} }, { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }, false],
    ['a scope of claims', {}, { scopeName: 'VolumeAttributesClass', operator: 'DoesNotExist' }, false],
  ];
  for (const [about, spec, requirement, expected] of scopes) {
    it(`is in ${requirement.scopeName} ${requirement.operator} with ${about}: ${expected}`, () =>
      assert.equal(pods.isInScope?.(pod(spec), requirement), expected));
  }
});

it('services use ports of the nodes and load balancers', () => {
  const usage = (spec: object) => {
    const { 'services.nodeports': ports, 'services.loadbalancers': balancers } = shown(
      serviceUsage.usage(asObject({ spec }), now),
    );
    return [ports, balancers];
  };
  const ports = [{ port: 80 }, { port: 81, nodePort: 30001 }];
  assert.deepEqual(usage({ type: 'ClusterIP', ports }), ['0', '0']);
  assert.deepEqual(usage({ type: 'NodePort', ports }), ['2', '0']);
  assert.deepEqual(usage({ type: 'LoadBalancer', ports }), ['2', '1']);
  assert.deepEqual(usage({ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }), ['1', '1']);
});

it('claims use storage, in all and of their class', () => {
  const prefix = `gold.storageclass.storage.${testNames.suffix}/`;
  const claim = asObject({
    spec: { storageClassName: 'gold', resources: { requests: { storage: '1500m' } } },
    status: { allocatedResources: { storage: '3Gi' } },
  });
  assert.deepEqual(shown(claims.usage(claim, now)), {
    persistentvolumeclaims: '1',
    'count/persistentvolumeclaims': '1',
    [`${prefix}persistentvolumeclaims`]: '1',
    'requests.storage': '3Gi',
    [`${prefix}requests.storage`]: '3Gi',
  });
  const plain = asObject({ spec: { resources: { requests: { storage: '1500m' } } } });
  assert.equal(shown(claims.usage(plain, now))['requests.storage'], '2');
  assert.ok(claims.measures(`${prefix}requests.storage`) && !claims.measures('requests.cpu'));
  const scope: ScopeRequirement = { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] };
  assert.ok(claims.isInScope?.(asObject({ spec: { volumeAttributesClassName: 'fast' } }), scope));
  assert.ok(!claims.isInScope?.(plain, scope));
});

it('claims rise by a status that allocates more or names another class', () => {
  const claim = (status?: object) => asObject({ spec: {}, ...(status === undefined ? {} : { status }) });
  const rises = (to?: object, from?: object) => claims.mayRiseBy('status', claim(to), claim(from));
  assert.ok(rises({ allocatedResources: { storage: '9Gi' } }, {}));
  assert.ok(rises({ currentVolumeAttributesClassName: 'gold' }));
  assert.ok(rises({ modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold', status: 'Pending' } }));
  assert.ok(!rises({ phase: 'Bound', capacity: { storage: '9Gi' } }, { phase: 'Pending' }) && !rises());
});

it('other objects count under each of their names', () => {
  const names = (...found: { group: string; resource: string }[]) => [
    ...objectUsage(found).usage(asObject({}), now).keys(),
  ];
  assert.deepEqual(names({ group: '', resource: 'configmaps' }), ['count/configmaps', 'configmaps']);
  assert.deepEqual(names({ group: 'apps', resource: 'deployments' }), ['count/deployments.apps']);
  assert.deepEqual(names({ group: '', resource: 'events' }, { group: 'events.k8s.io', resource: 'events' }), [
    'count/events',
    'count/events.events.k8s.io',
  ]);
});
