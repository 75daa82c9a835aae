import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames, testStores, testTime } from '../../../../test/support/definition-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { fieldsOf } from '../../../objects/registry/store/selection.js';
import type { CreatedSubresource } from '../../../objects/registry/subresource-definition.js';
import { podResource } from './pod.resource.js';

const definition = podResource(testNames, testStores());
const tester = new DefinitionTester(definition);
const container = { name: 'c', image: 'img:1' };
const valid = { spec: { containers: [container] } };

/** Causes without the diff that some of them show. */
const heads = (causes: readonly string[]) => causes.map((cause) => cause.split('\n@@')[0]);

function create(spec: Record<string, unknown> = {}): ApiObject {
  const { object, causes } = tester.create({ spec: { containers: [container], ...spec } });
  assert.deepEqual(causes, []);
  return object;
}

describe('pod creation', () => {
  it('starts pending, whatever status was sent', () => {
    const metadata = { generation: 7 };
    const { object } = tester.create({ ...valid, metadata, status: { phase: 'Running', podIP: '1.2.3.4' } });
    assert.deepEqual(object.status, { phase: 'Pending', qosClass: 'BestEffort' });
    assert.equal(object.metadata.generation, 1);
    const changed = tester.patch(object, { metadata: { generation: 9 }, spec: { activeDeadlineSeconds: 5 } });
    assert.deepEqual([changed.causes, changed.object.metadata.generation], [[], 2]);
    const labelled = tester.patch(object, { metadata: { generation: 9, labels: { a: 'b' } } });
    assert.deepEqual([labelled.causes, labelled.object.metadata.generation], [[], 1]);
  });

  it('refuses fields that only other paths may set later', () => {
    const token = { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } };
    const ephemeralContainers = [{ name: 'e', image: 'i' }];
    const { causes } = tester.create({
      spec: { ...valid.spec, ephemeralContainers, volumes: [{ name: 'v', ...token }] },
    });
    assert.deepEqual(causes, [
      'FieldValueForbidden | spec.ephemeralContainers | Forbidden: cannot be set on create',
      'FieldValueForbidden | spec.volumes[0].projected.sources[0].serviceAccountToken | Forbidden: must not be specified when serviceAccountName is not set',
    ]);
  });

  it('takes whole huge pages, for all containers no more than for the pod', () => {
    const page = 'hugepages-2Mi';
    const causesOf = (amount: string, spec: object = {}) => {
      const limits = { [page]: amount, memory: '1Mi' };
      return tester.create({ spec: { containers: [{ ...container, resources: { limits } }], ...spec } }).causes;
    };
    assert.deepEqual(causesOf('4Mi'), []);
    assert.deepEqual(causesOf('0'), []);
    const multiple = `Invalid value: "3Mi": 3Mi is not positive integer multiple of ${page}`;
    assert.deepEqual(causesOf('3Mi'), [
      `FieldValueInvalid | spec.containers[0].resources.limits[${page}] | ${multiple}`,
      `FieldValueInvalid | spec.containers[0].resources.requests[${page}] | ${multiple}`,
    ]);
    const resources = { limits: { [page]: '2Mi', memory: '1Mi' }, requests: { [page]: '2Mi', memory: '1Mi' } };
    assert.ok(
      causesOf('4Mi', { resources }).includes(
        `FieldValueInvalid | spec.resources.limits[${page}] | Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi`,
      ),
    );
  });

  it('needs a node for the mirror of a file', () => {
    const key = `${testNames.labelPrefix}/config.mirror`;
    const { causes } = tester.create({ ...valid, metadata: { annotations: { [key]: 'x' } } });
    assert.deepEqual(causes, [
      `FieldValueInvalid | metadata.annotations[${key}] | Invalid value: "x": must set spec.nodeName if mirror pod annotation is set`,
    ]);
  });

  it('shows fields to select by', () => {
    assert.deepEqual(fieldsOf(definition, create({ nodeName: 'n', serviceAccountName: 's' })), {
      'spec.nodeName': 'n',
      'spec.host': 'n',
      'spec.hostNetwork': 'false',
      'spec.restartPolicy': 'Always',
      'spec.schedulerName': 'default-scheduler',
      'spec.serviceAccountName': 's',
      'status.phase': 'Pending',
      'status.podIP': '',
      'status.podIPs': '',
      'status.nominatedNodeName': '',
    });
  });
});

const fixed =
  'FieldValueForbidden | spec | Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
const toleration = { key: 'k', operator: 'Exists' };
const keptToleration =
  'FieldValueForbidden | spec.tolerations | Forbidden: existing toleration can not be modified except its tolerationSeconds';

/** Changes of a pod with a deadline of 10 seconds and one toleration. */
const updates: readonly (readonly [patch: Record<string, unknown>, causes: readonly string[]])[] = [
  [{ metadata: { labels: { x: 'y' } } }, []],
  [{ spec: { containers: [{ ...container, image: 'img:2', imagePullPolicy: 'IfNotPresent' }] } }, []],
  [{ spec: { activeDeadlineSeconds: 5 } }, []],
  [{ spec: { tolerations: [toleration, { key: 'z', operator: 'Exists' }] } }, []],
  [{ status: { phase: 'Failed' } }, []],
  [{ spec: { nodeName: 'n', restartPolicy: 'Never', terminationGracePeriodSeconds: 5 } }, [fixed]],
  [{ spec: { containers: [{ ...container, command: ['x'] }] } }, [fixed]],
  [
    { spec: { containers: [container, { ...container, name: 'd' }] } },
    ['FieldValueForbidden | spec.containers | Forbidden: pod updates may not add or remove containers'],
  ],
  [
    { spec: { activeDeadlineSeconds: 50 } },
    [
      'FieldValueInvalid | spec.activeDeadlineSeconds | Invalid value: 50: must be less than or equal to previous value',
    ],
  ],
  [
    { spec: { activeDeadlineSeconds: null } },
    [
      'FieldValueInvalid | spec.activeDeadlineSeconds | Invalid value: null: must not update from a positive integer to nil value',
    ],
  ],
  [{ spec: { tolerations: null } }, [keptToleration]],
  [{ spec: { tolerations: [{ ...toleration, effect: 'NoSchedule' }] } }, [keptToleration]],
];

describe('pod changes', () => {
  for (const [patch, causes] of updates) {
    it(`judges ${JSON.stringify(patch)}`, () => {
      const pod = create({ activeDeadlineSeconds: 10, tolerations: [toleration] });
      assert.deepEqual(heads(tester.patch(pod, patch).causes), causes);
    });
  }

  it('opens scheduling gates, and adds none', () => {
    const pod = create({ schedulingGates: [{ name: 'a' }, { name: 'b' }] });
    const conditions = (pod.status as { conditions?: { type: string; status: string; reason: string }[] }).conditions;
    assert.deepEqual(
      conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [['PodScheduled', 'False', 'SchedulingGated']],
    );
    assert.equal((create().status as { conditions?: unknown }).conditions, undefined);
    assert.deepEqual(tester.patch(pod, { spec: { schedulingGates: [{ name: 'b' }] } }).causes, []);
    assert.deepEqual(tester.patch(pod, { spec: { schedulingGates: null } }).causes, []);
    assert.deepEqual(tester.patch(create(), { spec: { schedulingGates: [{ name: 'a' }] } }).causes, [
      "FieldValueForbidden | spec.schedulingGates[0].name | Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
    ]);
    assert.deepEqual(
      tester.create({ spec: { ...valid.spec, nodeName: 'n', schedulingGates: [{ name: 'a' }] } }).causes,
      ['FieldValueForbidden | spec.nodeName | Forbidden: cannot be set until all schedulingGates have been cleared'],
    );
  });

  it('lets the place of a gated pod be narrowed, and counts that', () => {
    const terms = (...keys: string[]) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) }],
        },
      },
    });
    const gates = { schedulingGates: [{ name: 'a' }] };
    const pod = create({ ...gates, nodeSelector: { a: 'b' }, affinity: terms('x') });
    const narrowed = tester.patch(pod, { spec: { nodeSelector: { c: 'd' }, affinity: terms('x', 'y') } });
    assert.deepEqual(narrowed.causes, []);
    assert.equal(narrowed.object.metadata.generation, 2);
    assert.deepEqual(tester.patch(create(gates), { spec: { affinity: terms('x') } }).causes, []);
    assert.deepEqual(tester.patch(pod, { spec: { nodeSelector: { a: 'z' }, affinity: null } }).causes, [
      'FieldValueInvalid | spec.nodeSelector | Invalid value: {"a":"z"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      'FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms | Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed',
    ]);
    assert.deepEqual(heads(tester.patch(create(), { spec: { nodeSelector: { a: 'b' } } }).causes), [fixed]);
  });

  it('adds what label keys mean to the selectors of a new pod', () => {
    const labelSelector = { matchLabels: { a: 'b' } };
    const term = { topologyKey: 'z', labelSelector, matchLabelKeys: ['v'], mismatchLabelKeys: ['w', 'none'] };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const { object } = tester.create({ metadata: { labels: { v: '1', w: '2' } }, spec: { ...valid.spec, affinity } });
    const made = (object.spec as { affinity: typeof affinity }).affinity.podAffinity;
    assert.deepEqual(made.requiredDuringSchedulingIgnoredDuringExecution[0]?.labelSelector, {
      ...labelSelector,
      matchExpressions: [
        { key: 'v', operator: 'In', values: ['1'] },
        { key: 'w', operator: 'NotIn', values: ['2'] },
      ],
    });
  });

  it('stores a negative grace period as one second', () => {
    const graceOf = ({ spec }: ApiObject) =>
      (spec as { terminationGracePeriodSeconds: number }).terminationGracePeriodSeconds;
    assert.equal(graceOf(create({ terminationGracePeriodSeconds: -1 })), 1);
    assert.equal(graceOf(create({ terminationGracePeriodSeconds: 0 })), 0);
  });

  it('turns a negative grace period of older releases into one second only', () => {
    const pod = create();
    (pod.spec as { terminationGracePeriodSeconds: number }).terminationGracePeriodSeconds = -1;
    assert.deepEqual(tester.patch(pod, { spec: { terminationGracePeriodSeconds: 1 } }).causes, []);
    assert.deepEqual(heads(tester.patch(pod, { spec: { terminationGracePeriodSeconds: 2 } }).causes), [fixed]);
    const lifted = create({ terminationGracePeriodSeconds: 1 });
    assert.deepEqual(tester.patch(lifted, { spec: { terminationGracePeriodSeconds: -1 } }).causes, []);
  });
});

describe('pod binding', () => {
  const path = definition.subresources?.find((s) => s.type === 'created') as CreatedSubresource;
  const bind = (pod: ApiObject, body: Record<string, unknown>) =>
    path.write({} as never, structuredClone(pod), { metadata: {}, ...body } as ApiObject);

  it('puts the pod on the node', () => {
    const body = { metadata: { annotations: { x: 'y' } }, target: { kind: 'Node', name: 'n' } };
    const bound = bind(create(), body) as ApiObject;
    assert.equal((bound.spec as { nodeName: string }).nodeName, 'n');
    assert.deepEqual(bound.metadata.annotations, { x: 'y' });
    assert.deepEqual((bound.status as { conditions: unknown }).conditions, [
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: testTime },
    ]);
    assert.deepEqual(path.createAnswer({} as never, {} as ApiObject), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    });
  });

  it('brings no annotations that decide what the pod may do', () => {
    const key = `container.apparmor.security.beta.${testNames.labelPrefix}/c`;
    const body = { metadata: { annotations: { [key]: 'unconfined' } }, target: { name: 'n' } };
    const errors = path.validateUpdate({} as never, bind(create(), body) as ApiObject, create());
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      [`metadata.annotations[${key}]: Forbidden: may not add AppArmor annotations`],
    );
  });

  const target = { name: 'n' };
  const refusals: readonly (readonly [pod: ApiObject, body: Record<string, unknown>, code: number, message: RegExp])[] =
    [
      [create({ nodeName: 'm' }), { target }, 409, /pods\/binding "a": pod a is already assigned to node "m"$/],
      [create({ schedulingGates: [{ name: 'g' }] }), { target }, 409, /non-empty .spec.schedulingGates$/],
      [
        { ...create(), metadata: { name: 'a', deletionTimestamp: testTime } },
        { target },
        409,
        /pod a is being deleted, cannot be assigned to a host$/,
      ],
      [create(), { target: {} }, 500, /^target.name: Required value$/],
      [create(), { target: { kind: 'Rack', name: 'r' } }, 500, /^target.kind: Unsupported value: "Rack"/],
    ];
  for (const [pod, body, code, message] of refusals) {
    it(`refuses with ${message.source}`, () => {
      assert.throws(
        () => bind(pod, body),
        (error) => error instanceof StatusError && error.code === code && message.test(error.message),
      );
    });
  }
});

describe('ephemeral containers', () => {
  const added = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', targetContainerName: 'c' }] } };

  it('are added to a pod, and stay', () => {
    const { object, causes } = tester.patch(create(), { ...added, status: { phase: 'Failed' } }, 'ephemeralcontainers');
    assert.deepEqual(causes, []);
    assert.equal((object.status as { phase: string }).phase, 'Pending');
    const spec = object.spec as { ephemeralContainers: { imagePullPolicy: string }[] };
    assert.equal(spec.ephemeralContainers[0]?.imagePullPolicy, 'Always');
    assert.deepEqual(tester.patch(object, { spec: { ephemeralContainers: null } }, 'ephemeralcontainers').causes, [
      'FieldValueForbidden | spec.ephemeralContainers | Forbidden: existing ephemeral containers "e" may not be removed\n',
    ]);
    const changed = { spec: { ephemeralContainers: [{ name: 'e', image: 'other' }] } };
    const [refusal, ...others] = tester.patch(object, changed, 'ephemeralcontainers').causes;
    const detail =
      'Forbidden: existing ephemeral containers "e" may not be changed\n@@ -1,6 +1,6 @@\n {\n  "Name": "e",\n';
    assert.ok(
      refusal?.startsWith(`FieldValueForbidden | spec.ephemeralContainers | ${detail}- "Image": "i",\n`) === true,
      refusal ?? '',
    );
    assert.deepEqual(others, []);
  });

  it('have rules of their own', () => {
    const bad = { name: 'c', image: 'i', ports: [{ containerPort: 1 }], targetContainerName: 'z' };
    assert.deepEqual(tester.patch(create(), { spec: { ephemeralContainers: [bad] } }, 'ephemeralcontainers').causes, [
      'FieldValueDuplicate | spec.ephemeralContainers[0].name | Duplicate value: "c"',
      'FieldValueNotFound | spec.ephemeralContainers[0].targetContainerName | Not found: "z"',
      'FieldValueForbidden | spec.ephemeralContainers[0].ports | Forbidden: cannot be set for an Ephemeral Container',
    ]);
  });
});

describe('annotations that decide what a pod may do', () => {
  const mirror = `${testNames.labelPrefix}/config.mirror`;
  const appArmor = `container.apparmor.security.beta.${testNames.labelPrefix}/c`;
  const paths = [undefined, 'status'] as const;
  const causesOf = (pod: ApiObject, annotations: object, path: (typeof paths)[number]) =>
    tester.patch(pod, { metadata: { annotations } }, path).causes;

  for (const path of paths) {
    it(`are not added through ${path ?? 'the pod'}`, () => {
      const pod = create({ nodeName: 'n' });
      assert.deepEqual(causesOf(pod, { [mirror]: 'x', [appArmor]: 'unconfined', other: 'x' }, path), [
        `FieldValueForbidden | metadata.annotations[${appArmor}] | Forbidden: may not add AppArmor annotations`,
        `FieldValueForbidden | metadata.annotations[${mirror}] | Forbidden: may not add mirror pod annotation`,
      ]);
    });

    it(`are not changed or removed through ${path ?? 'the pod'}`, () => {
      const annotations = { [appArmor]: 'runtime/default' };
      const { object } = tester.create({ ...valid, metadata: { annotations } });
      const refusal = `FieldValueForbidden | metadata.annotations[${appArmor}] | Forbidden: may not remove or update AppArmor annotations`;
      assert.deepEqual(causesOf(object, { [appArmor]: 'unconfined' }, path), [refusal]);
      assert.deepEqual(causesOf(object, { [appArmor]: null }, path), [refusal]);
      assert.deepEqual(causesOf(object, { other: 'x' }, path), []);
    });
  }

  it('stay as they are through paths that change only a part of the spec', () => {
    const annotations = { [appArmor]: 'runtime/default' };
    const { object } = tester.create({ ...valid, metadata: { annotations } });
    for (const path of ['ephemeralcontainers', 'resize']) {
      const patch = { metadata: { annotations: { [mirror]: 'x', [appArmor]: 'unconfined', other: 'x' } } };
      const changed = tester.patch(object, patch, path);
      assert.deepEqual([changed.causes, changed.object.metadata.annotations], [[], annotations], path);
    }
  });

  it('keep mirrors as they are', () => {
    const spec = { ...valid.spec, nodeName: 'n' };
    const { object } = tester.create({ spec, metadata: { annotations: { [mirror]: 'x' } } });
    const refusal = `FieldValueForbidden | metadata.annotations[${mirror}] | Forbidden: may not remove or update mirror pod annotation`;
    assert.deepEqual(causesOf(object, { [mirror]: null }, 'status'), [refusal]);
    assert.deepEqual(causesOf(object, { [mirror]: 'y' }, undefined), [refusal]);
    const added = { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } };
    assert.match(
      tester.patch(object, added, 'ephemeralcontainers').causes.join(),
      /Forbidden: static pods do not support ephemeral containers$/,
    );
  });
});

describe('grace of a pod', () => {
  const grace = (pod: ApiObject, gracePeriodSeconds?: number) =>
    definition.strategy.gracePeriodSeconds?.(pod, { dryRun: false, gracePeriodSeconds });

  it('is for pods that run', () => {
    const bound = create({ nodeName: 'n', terminationGracePeriodSeconds: 7 });
    assert.equal(grace(create(), 20), 0);
    assert.equal(grace(bound), 7);
    assert.equal(grace(bound, 20), 20);
    assert.equal(grace(bound, 0), 0);
    const older = create({ nodeName: 'n' });
    (older.spec as { terminationGracePeriodSeconds: number }).terminationGracePeriodSeconds = -3;
    assert.equal(grace(older), 1);
    assert.equal(grace({ ...bound, status: { phase: 'Succeeded' } }), 0);
    assert.equal(grace({ ...bound, status: { phase: 'Failed' } }), 0);
  });
});

describe('what pods once said in annotations', () => {
  const annotated = (annotations: Record<string, string>) => tester.create({ ...valid, metadata: { annotations } });

  it('about init containers is not kept', () => {
    const { object, causes } = annotated({ 'pod.beta.kubernetes.io/init-containers': '[]', kept: '1' });
    assert.deepEqual([object.metadata.annotations, causes], [{ kept: '1' }, []]);
  });

  it('about the costs of a deletion is a number', () => {
    const key = `controller.${testNames.labelPrefix}/pod-deletion-cost`;
    for (const cost of ['0', '-5', '2147483647']) assert.deepEqual(annotated({ [key]: cost }).causes, [], cost);
    for (const cost of ['', 'x', '+5', '007', '2147483648', '1.5']) {
      const text = JSON.stringify(cost);
      assert.deepEqual(annotated({ [key]: cost }).causes, [
        `FieldValueInvalid | metadata.annotations[${key}] | Invalid value: ${text}: must be a 32bit integer`,
      ]);
    }
  });

  it('does not give devices to a static pod', () => {
    const metadata = { annotations: { [`${testNames.labelPrefix}/config.mirror`]: 'x' } };
    const claims = { nodeName: 'n', resourceClaims: [{ name: 'a', resourceClaimName: 'b' }] };
    const { causes } = tester.create({ metadata, spec: { ...valid.spec, ...claims } });
    assert.deepEqual(causes, ['FieldValueForbidden | [] | Forbidden: static pods do not support resource claims']);
  });
});

describe('claims of pods', () => {
  it('are checked where the resources of the whole pod name them, although they may not', () => {
    const resources = { claims: [{ name: 'a', request: 'My' }, { name: 'a' }] };
    const { causes } = tester.create({ spec: { ...valid.spec, resources } });
    assert.deepEqual(
      causes.map((cause) => cause.split(' | ').slice(0, 2).join(' ')),
      [
        'FieldValueForbidden spec.resources.claims',
        'FieldValueInvalid spec.resources.claims[0].request',
        'FieldValueNotFound spec.resources.claims[0]',
        'FieldValueDuplicate spec.resources.claims[1]',
        'FieldValueNotFound spec.resources.claims[1]',
      ],
    );
  });

  it('have valid names, each once', () => {
    const claims = [
      { name: 'A b', resourceClaimName: 'x' },
      { name: 'A b', resourceClaimName: 'y' },
    ];
    const { causes } = tester.create({ spec: { ...valid.spec, resourceClaims: claims } });
    assert.deepEqual(
      causes.map((cause) => cause.split(' | ').slice(0, 2).join(' ')),
      ['FieldValueInvalid spec.resourceClaims[0].name', 'FieldValueDuplicate spec.resourceClaims[1].name'],
    );
  });

  it('have templates with nothing but labels and annotations', () => {
    const requested = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const volumeClaimTemplate = { metadata: { name: 'x', labels: { a: 'b' } }, spec: requested };
    const { causes } = tester.create({
      spec: { ...valid.spec, volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate } }] },
    });
    const path = 'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name';
    assert.deepEqual(causes, [`FieldValueForbidden | ${path} | Forbidden: cannot be set`]);
  });
});
