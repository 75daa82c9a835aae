import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestRequest } from '../../../test/support/admission-attributes.js';
import { admissionParts, admit, type TestWorld } from '../../../test/support/admission-parts.js';
import { OptionsError } from '../../config/parse-options.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import type { AdmissionParts } from '../build-admission.js';
import { parseNodeLabels } from '../plugins/pod-node-selector/node-selector-labels.js';
import { podPlugins } from './pod-plugins.js';
import { coversToleration, mergeTolerations } from './tolerations.js';

type Name = keyof typeof podPlugins;

const options = { defaultNotReadyTolerationSeconds: 300, defaultUnreachableTolerationSeconds: 200 };

function plugin(name: Name, world: TestWorld = {}): AdmissionPlugin {
  return podPlugins[name]({ ...admissionParts(world), options } as AdmissionParts);
}

function pod(spec: object = {}) {
  return { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i', resources: {} }], ...spec } };
}

/** What the plugin leaves of these fields of the spec, or its refusal. */
async function specOf(name: Name, spec: object, world: TestWorld = {}, request: TestRequest = {}) {
  const { object, problem } = await admit(plugin(name, world), { object: pod(spec), ...request });
  return problem ?? object.spec;
}

const notReady = {
  key: 'node.kubernetes.io/not-ready',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
};
const unreachable = { ...notReady, key: 'node.kubernetes.io/unreachable', tolerationSeconds: 200 };

describe('DefaultTolerationSeconds', () => {
  const cases: readonly (readonly [tolerations: object[] | undefined, added: object[]])[] = [
    [undefined, [notReady, unreachable]],
    [[{ key: 'a' }], [notReady, unreachable]],
    [[{ ...notReady, tolerationSeconds: 5 }], [unreachable]],
    [[{ key: unreachable.key, effect: 'NoSchedule' }], [notReady, unreachable]],
    [[{ key: unreachable.key }], [notReady]],
    [[{ operator: 'Exists' }], []],
  ];
  for (const [tolerations, added] of cases) {
    it(`completes ${JSON.stringify(tolerations)}`, async () => {
      const spec = tolerations === undefined ? {} : { tolerations };
      assert.deepEqual((await specOf('DefaultTolerationSeconds', spec)).tolerations, [
        ...(tolerations ?? []),
        ...added,
      ]);
    });
  }
  it('leaves the status of pods alone', async () => {
    const request = { subresource: 'status', oldObject: pod() };
    assert.equal((await specOf('DefaultTolerationSeconds', {}, {}, request)).tolerations, undefined);
  });
});

describe('TaintNodesByCondition', () => {
  const taint = { key: notReady.key, effect: 'NoSchedule' };
  const taints = async (request: TestRequest) =>
    (await admit(plugin('TaintNodesByCondition'), { resource: 'nodes', ...request })).object.spec.taints;
  it('taints new nodes once', async () => {
    assert.deepEqual(await taints({ object: { spec: {} } }), [taint]);
    assert.deepEqual(await taints({ object: { spec: { taints: [taint] } } }), [taint]);
    const other = { ...taint, effect: 'NoExecute' };
    assert.deepEqual(await taints({ object: { spec: { taints: [other] } } }), [other, taint]);
    assert.equal(await taints({ object: { spec: {} }, oldObject: { spec: {} } }), undefined);
    assert.equal(await taints({ resource: 'pods', object: { spec: {} } }), undefined);
  });
});

describe('Priority', () => {
  const classes = {
    'priorityclasses.scheduling.k8s.io': {
      high: { value: 77, preemptionPolicy: 'Never' },
      low: { value: -5, globalDefault: true },
      alsoDefault: { value: 5, globalDefault: true },
    },
  };
  const none = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };
  const suffix = 'from the given PriorityClass name';
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['no class', {}, {}, [undefined, 0, none.preemptionPolicy]],
    ['the default with the lowest value', {}, { known: classes }, ['low', -5, none.preemptionPolicy]],
    ['a class', { priorityClassName: 'high' }, { known: classes }, ['high', 77, 'Never']],
    ['a class that only the store has', { priorityClassName: 'high' }, { stored: classes }, ['high', 77, 'Never']],
    ['the right number', { priorityClassName: 'high', priority: 77 }, { known: classes }, ['high', 77, 'Never']],
    ['an unknown class', { priorityClassName: 'x' }, { known: classes }, 'no PriorityClass with name x was found'],
    [
      'another number',
      { priorityClassName: 'high', priority: 5 },
      { known: classes },
      `the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 77 ${suffix}`,
    ],
    [
      'another policy',
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      { known: classes },
      `the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never ${suffix}`,
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`resolves ${what}`, async () => {
      const result = await specOf('Priority', spec, world);
      const fields =
        typeof result === 'string' ? result : [result.priorityClassName, result.priority, result.preemptionPolicy];
      assert.deepEqual(fields, expected);
    });
  }

  it('keeps what it has filled when an update leaves it out', async () => {
    const oldObject = pod({ priority: 3, preemptionPolicy: 'Never' });
    const result = await specOf('Priority', {}, {}, { oldObject });
    assert.deepEqual([result.priority, result.preemptionPolicy], [3, 'Never']);
  });

  it('allows one default class', async () => {
    const world = { known: { 'priorityclasses.scheduling.k8s.io': { a: { value: 1, globalDefault: true } } } };
    const judge = async (request: TestRequest) =>
      (await admit(plugin('Priority', world), { resource: 'priorityclasses.scheduling.k8s.io', ...request })).problem;
    const isDefault = { metadata: {}, value: 1, globalDefault: true };
    const second = 'PriorityClass a is already marked as default. Only one default can exist';
    assert.equal(await judge({ name: 'b', object: isDefault }), second);
    assert.equal(await judge({ name: 'b', object: isDefault, oldObject: { metadata: {}, value: 1 } }), second);
    assert.equal(await judge({ name: 'a', object: isDefault, oldObject: isDefault }), undefined);
    assert.equal(await judge({ name: 'b', object: { metadata: {}, value: 1 } }), undefined);
  });
});

describe('RuntimeClass', () => {
  const rt = { key: 'rt', operator: 'Exists' };
  const classes = {
    'runtimeclasses.node.k8s.io': {
      full: {
        overhead: { podFixed: { cpu: '250m' } },
        scheduling: { nodeSelector: { rt: 'yes' }, tolerations: [rt] },
      },
      plain: {},
    },
  };
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['none', {}, {}, [undefined, undefined, undefined]],
    ['its class', { runtimeClassName: 'full' }, { known: classes }, [{ cpu: '250m' }, { rt: 'yes' }, [rt]]],
    [
      'a class that only the store has',
      { runtimeClassName: 'full' },
      { stored: classes },
      [{ cpu: '250m' }, { rt: 'yes' }, [rt]],
    ],
    [
      'a class, and its own wishes',
      {
        runtimeClassName: 'full',
        overhead: { cpu: '0.25' },
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'a' }, rt],
      },
      { known: classes },
      [{ cpu: '250m' }, { a: 'b', rt: 'yes' }, [{ key: 'a' }, rt]],
    ],
    ['an unknown class', { runtimeClassName: 'x' }, { known: classes }, 'pod rejected: RuntimeClass "x" not found'],
    [
      'another overhead',
      { runtimeClassName: 'full', overhead: { cpu: '1' } },
      { known: classes },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      'an overhead without a class',
      { overhead: { cpu: '1' } },
      {},
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'an overhead that its class lacks',
      { runtimeClassName: 'plain', overhead: { cpu: '1' } },
      { known: classes },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'other nodes than its class',
      { runtimeClassName: 'full', nodeSelector: { rt: 'no' } },
      { known: classes },
      'conflict: runtimeClass.scheduling.nodeSelector[rt] = yes; pod.spec.nodeSelector[rt] = no',
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`gives a pod with ${what} what it says`, async () => {
      const result = await specOf('RuntimeClass', spec, world);
      assert.deepEqual(
        typeof result === 'string' ? result : [result.overhead, result.nodeSelector, result.tolerations],
        expected,
      );
    });
  }
});

describe('AlwaysPullImages', () => {
  it('sets the policy of everything with an image', async () => {
    const container = { name: 'a', image: 'i', imagePullPolicy: 'IfNotPresent' };
    const spec = await specOf('AlwaysPullImages', {
      containers: [container],
      initContainers: [{ ...container, name: 'b' }],
      volumes: [
        { name: 'v', image: { reference: 'r', pullPolicy: 'Never' } },
        { name: 'w', emptyDir: {} },
      ],
    });
    assert.equal(spec.containers[0].imagePullPolicy, 'Always');
    assert.equal(spec.initContainers[0].imagePullPolicy, 'Always');
    assert.equal(spec.volumes[0].image.pullPolicy, 'Always');
  });
  it('concerns only new images of updates', async () => {
    const old = pod({ ephemeralContainers: [{ name: 'e', image: 'i', imagePullPolicy: 'Never' }] });
    const added = {
      ephemeralContainers: [
        ...(old.spec as never as { ephemeralContainers: object[] }).ephemeralContainers,
        { name: 'f', image: 'i' },
      ],
    };
    const spec = await specOf('AlwaysPullImages', added, {}, { subresource: 'ephemeralcontainers', oldObject: old });
    const policies = [...spec.containers, ...spec.ephemeralContainers].map(
      (each: { imagePullPolicy?: string }) => each.imagePullPolicy,
    );
    assert.deepEqual(policies, [undefined, 'Never', 'Always']);
  });
  it('refuses what a later plugin changed', () => {
    const judged = plugin('AlwaysPullImages');
    assert.throws(
      () =>
        judged.validate?.({
          operation: 'CREATE',
          resource: { group: '', version: 'v1', resource: 'pods' },
          subresource: '',
          name: 'x',
          object: pod(),
        } as never),
      /the image of container c must be pulled with policy "Always"/,
    );
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const terms = (...keys: string[]) => ({
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })) },
    },
  });
  it('allows nodes only', async () => {
    assert.equal(typeof (await specOf('LimitPodHardAntiAffinityTopology', terms('kubernetes.io/hostname'))), 'object');
    assert.equal(
      await specOf('LimitPodHardAntiAffinityTopology', terms('kubernetes.io/hostname', 'zone')),
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    );
  });
});

describe('SecurityContextDeny', () => {
  const inContainer = (securityContext: object) => ({ containers: [{ name: 'c', securityContext }] });
  const cases: readonly (readonly [object, string | undefined])[] = [
    [{ securityContext: {} }, undefined],
    [inContainer({ privileged: true }), undefined],
    [{ securityContext: { supplementalGroups: [1] } }, 'pod.Spec.SecurityContext.SupplementalGroups is forbidden'],
    [{ securityContext: { seLinuxOptions: {} } }, 'pod.Spec.SecurityContext.SELinuxOptions is forbidden'],
    [{ securityContext: { runAsUser: 0 } }, 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
    [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup is forbidden'],
    [inContainer({ seLinuxOptions: {} }), 'SecurityContext.SELinuxOptions is forbidden'],
    [{ initContainers: [{ name: 'i', securityContext: { runAsUser: 1 } }] }, 'SecurityContext.RunAsUser is forbidden'],
  ];
  for (const [spec, expected] of cases) {
    it(`judges ${JSON.stringify(spec)}`, async () => {
      const result = await specOf('SecurityContextDeny', spec);
      assert.equal(typeof result === 'string' ? result : undefined, expected);
    });
  }
});

describe('ExtendedResourceToleration', () => {
  it('tolerates the names of extended resources', async () => {
    const requests = {
      cpu: '1',
      'example.com/gpu': '1',
      'a.com/b': '1',
      'requests.a/b': '1',
      'x.kubernetes.io/y': '1',
    };
    const toleration = (key: string) => ({ key, operator: 'Exists', effect: 'NoSchedule' });
    const containers = [{ name: 'c', resources: { requests } }];
    const { tolerations } = await specOf('ExtendedResourceToleration', { containers });
    assert.deepEqual(tolerations, [toleration('a.com/b'), toleration('example.com/gpu')]);
    const again = await specOf('ExtendedResourceToleration', { containers, tolerations });
    assert.deepEqual(again.tolerations, tolerations);
    assert.equal((await specOf('ExtendedResourceToleration', {})).tolerations, undefined);
  });
});

describe('PodNodeSelector', () => {
  const annotation = 'scheduler.alpha.kubernetes.io/node-selector';
  const configuration = {
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=prod', n: 'env=dev,disk=ssd' },
  };
  const conflict = 'pod node label selector conflicts with its namespace node label selector';
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['nothing', {}, {}, undefined],
    [
      'the namespace',
      { nodeSelector: { a: 'b' } },
      { annotations: { [annotation]: 'env=test' } },
      { env: 'test', a: 'b' },
    ],
    ['a conflict', { nodeSelector: { env: 'x' } }, { annotations: { [annotation]: 'env=test' } }, conflict],
    [
      'the default of the cluster',
      {},
      { configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=prod' } } },
      { env: 'prod' },
    ],
    [
      'an allowed selector',
      { nodeSelector: { disk: 'ssd' } },
      { configuration, annotations: { [annotation]: 'env=dev' } },
      { env: 'dev', disk: 'ssd' },
    ],
    ['another selector', {}, { configuration }, 'pod node label selector labels conflict with its namespace whitelist'],
    [
      'a broken annotation',
      {},
      { annotations: { [annotation]: 'a' } },
      `annotation ${annotation} of the namespace is invalid`,
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`follows ${what}`, async () => {
      const result = await specOf('PodNodeSelector', spec, world);
      assert.deepEqual(typeof result === 'string' ? result : result.nodeSelector, expected);
    });
  }
  it('names everything that is wrong with its configuration', () => {
    const bad = { podNodeSelectorPluginConfig: { a: 'b', c: 7, ok: 'a=b' }, more: 1 };
    assert.throws(
      () => plugin('PodNodeSelector', { configuration: bad }),
      (error: OptionsError) => {
        assert.deepEqual(error.problems, [
          'f: more: unknown field',
          'f: podNodeSelectorPluginConfig.a: must be labels as in "a=b,c=d"',
          'f: podNodeSelectorPluginConfig.c: must be labels as in "a=b,c=d"',
        ]);
        return error instanceof OptionsError;
      },
    );
  });
});

describe('PodTolerationRestriction', () => {
  const prefix = 'scheduler.alpha.kubernetes.io/';
  const a = { key: 'a', operator: 'Exists' };
  const b = { key: 'b', operator: 'Exists' };
  const pressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
  const configuration = {
    apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    default: [a],
    whitelist: [a],
  };
  const conflict = (scope: string) =>
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;
  const requests = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] };
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['nothing', {}, {}, undefined],
    ['requests', requests, {}, [pressure]],
    ['defaults of the cluster', {}, { configuration }, [a]],
    [
      'defaults of the namespace',
      { tolerations: [a] },
      { annotations: { [`${prefix}defaultTolerations`]: JSON.stringify([b]) } },
      [b, a],
    ],
    ['the limits of the cluster', { tolerations: [b] }, { configuration }, conflict('cluster')],
    [
      'the limits of the namespace',
      { tolerations: [b] },
      { annotations: { [`${prefix}tolerationsWhitelist`]: JSON.stringify([a]) } },
      conflict('namespace'),
    ],
    [
      'a namespace without limits',
      { tolerations: [b] },
      { configuration: { ...configuration, default: [] }, annotations: { [`${prefix}tolerationsWhitelist`]: '[]' } },
      [b],
    ],
    [
      'a broken annotation',
      {},
      { annotations: { [`${prefix}defaultTolerations`]: '{' } },
      `annotation ${prefix}defaultTolerations of the namespace is no list of tolerations`,
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`follows ${what}`, async () => {
      const result = await specOf('PodTolerationRestriction', spec, world);
      const given = typeof result === 'string' ? result : result.tolerations;
      const sort = (value: unknown) =>
        Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value;
      assert.deepEqual(sort(given), sort(expected));
    });
  }
  it('checks its configuration', () => {
    assert.throws(
      () => plugin('PodTolerationRestriction', { configuration: { ...configuration, kind: 'X', more: 1 } }),
      /unknown field.*\n?.*kind/s,
    );
    assert.throws(
      () => plugin('PodTolerationRestriction', { configuration: { ...configuration, default: 7 } }),
      OptionsError,
    );
  });
});

describe('the plugins that deny commands', () => {
  const connect = async (name: Name, spec: object, subresource = 'exec') => {
    const world = { stored: { pods: { x: pod(spec) } } };
    return (await admit(plugin(name, world), { operation: 'CONNECT', subresource, object: undefined })).problem;
  };
  const privileged = { initContainers: [{ name: 'i', securityContext: { privileged: true } }] };
  const cases: readonly (readonly [object, escalating: string | undefined, privileged: string | undefined])[] = [
    [{}, undefined, undefined],
    [{ hostPID: true }, 'cannot exec into or attach to a container using host pid', undefined],
    [{ hostIPC: true }, 'cannot exec into or attach to a container using host ipc', undefined],
    [
      privileged,
      'cannot exec into or attach to a privileged container',
      'cannot exec into or attach to a privileged container',
    ],
  ];
  for (const [spec, escalating, onPrivileged] of cases) {
    it(`judge ${JSON.stringify(spec)}`, async () => {
      for (const subresource of ['exec', 'attach']) {
        assert.equal(await connect('DenyEscalatingExec', spec, subresource), escalating);
        assert.equal(await connect('DenyExecOnPrivileged', spec, subresource), onPrivileged);
      }
      assert.equal(await connect('DenyEscalatingExec', spec, 'portforward'), undefined);
    });
  }
  it('answer 404 for a missing pod', async () => {
    const { problem } = await admit(plugin('DenyEscalatingExec'), { operation: 'CONNECT', subresource: 'exec' });
    assert.equal(problem, '404 pods "x" not found');
  });
});

describe('tolerations', () => {
  const exists = { operator: 'Exists' } as const;
  const cases: readonly (readonly [object, object, boolean])[] = [
    [exists, { key: 'a', value: 'b', effect: 'NoSchedule' }, true],
    [{ key: 'a', ...exists }, { key: 'a', value: 'b' }, true],
    [{ key: 'a', ...exists }, { key: 'b', value: 'b' }, false],
    [{ key: 'a', value: 'b' }, { key: 'a', operator: 'Equal', value: 'b' }, true],
    [{ key: 'a', value: 'b' }, { key: 'a', ...exists }, false],
    [{ key: 'a', ...exists, effect: 'NoSchedule' }, { key: 'a', ...exists }, false],
    [
      { ...exists, effect: 'NoExecute', tolerationSeconds: 5 },
      { ...exists, effect: 'NoExecute', tolerationSeconds: 4 },
      true,
    ],
    [{ ...exists, effect: 'NoExecute', tolerationSeconds: 5 }, { ...exists, effect: 'NoExecute' }, false],
  ];
  for (const [a, b, expected] of cases) {
    it(`${JSON.stringify(a)} ${expected ? 'covers' : 'does not cover'} ${JSON.stringify(b)}`, () => {
      assert.equal(coversToleration(a, b), expected);
    });
  }
  it('merge without those that others cover, however many there are', () => {
    assert.deepEqual(mergeTolerations([{ key: 'a' }, { key: 'b' }], [{ key: 'a' }]), [{ key: 'a' }, { key: 'b' }]);
    assert.deepEqual(mergeTolerations([{ key: 'a', value: 'b' }], [{ key: 'a', ...exists }]), [
      { key: 'a', ...exists },
    ]);
    const many = Array.from({ length: 50_000 }, (_, i) => ({ key: `k${i}` }));
    const begin = performance.now();
    assert.equal(mergeTolerations(many, [{ key: 'x' }]).length, 50_001);
    assert.ok(performance.now() - begin < 50);
  });
  it('merge quickly up to the longest lists that are compared', () => {
    const list = (name: string) =>
      Array.from({ length: 200 }, (_, i) => ({ key: 'same', value: `${name}${i}`, tolerationSeconds: i }));
    const [a, b] = [list('a'), list('b')];
    // Processor time, and the best of several runs: the machine does something else meanwhile.
    const times = Array.from({ length: 5 }, () => {
      const begin = process.cpuUsage();
      assert.equal(mergeTolerations(a, b).length, 400);
      return process.cpuUsage(begin).user / 1000;
    });
    assert.ok(Math.min(...times) < 40, `${times}`);
  });
});

it('labels of nodes are read up to a thousand', () => {
  const text = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join(',');
  assert.equal(Object.keys(parseNodeLabels(text(1000)) ?? {}).length, 1000);
  assert.equal(parseNodeLabels(text(1001)), undefined);
});
