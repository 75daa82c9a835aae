import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames, testStores } from '../../../../test/support/definition-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { podResource } from './pod.resource.js';

const definition = podResource(testNames, testStores());
const tester = new DefinitionTester(definition);
const container = { name: 'c', image: 'img:1' };

function create(spec: Record<string, unknown> = {}): ApiObject {
  const { object, causes } = tester.create({ spec: { containers: [container], ...spec } });
  assert.deepEqual(causes, []);
  return object;
}

const toleration = { key: 'k', operator: 'Exists' };

describe('pods/resize', () => {
  const resources = {
    requests: { cpu: '100m', memory: '100Mi' },
    limits: { cpu: '200m', memory: '200Mi' },
  };
  const sized = { ...container, resources };
  const resize = (pod: ApiObject, containers: readonly object[], more: object = {}) =>
    tester.patch(pod, { spec: { containers, ...more } }, 'resize');
  const specOf = ({ object }: { object: ApiObject }) =>
    object.spec as { containers: { image: string; resources: unknown }[]; tolerations?: unknown; resources?: unknown };

  it('changes amounts of CPU and memory, and counts that', () => {
    const pod = create({ containers: [sized] });
    const more = { requests: { cpu: '150m', memory: '120Mi' }, limits: { cpu: '200m', memory: '200Mi' } };
    const changed = resize(pod, [{ ...sized, resources: more }]);
    assert.deepEqual([changed.causes, changed.object.metadata.generation], [[], 2]);
    assert.deepEqual(specOf(changed).containers[0]?.resources, more);
    const same = resize(pod, [sized]);
    assert.deepEqual([same.causes, same.object.metadata.generation], [[], 1]);
  });

  it('keeps everything else', () => {
    const pod = create({ containers: [sized], tolerations: [toleration] });
    const patch = {
      metadata: { labels: { x: 'y' }, finalizers: ['a.example.com/b'] },
      spec: { containers: [{ ...sized, image: 'other' }], tolerations: null },
      status: { phase: 'Failed' },
    };
    const { object, causes } = tester.patch(pod, patch, 'resize');
    assert.deepEqual(causes, []);
    const { labels, finalizers, generation } = object.metadata;
    assert.deepEqual([labels, finalizers, generation, object.status], [undefined, undefined, 1, pod.status]);
    assert.deepEqual(object.spec, pod.spec);
    // The path for debug containers drops the same changes.
    const debugging = tester.patch(pod, { ...patch, spec: pod.spec as object }, 'ephemeralcontainers');
    assert.deepEqual([debugging.causes, debugging.object.metadata.labels], [[], undefined]);
  });

  it('refuses another class of service, removed amounts and other resources', () => {
    const pod = create({ containers: [sized] });
    const asked = (more: object) => resize(pod, [{ ...container, ...more }]).causes;
    const otherClass =
      'FieldValueInvalid | spec | Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing';
    const limits = { cpu: '200m', memory: '200Mi' };
    assert.deepEqual(asked({ resources: { requests: limits, limits } }), [otherClass]);
    const removed = 'FieldValueForbidden | spec.containers[0].resources';
    assert.deepEqual(asked({}), [
      otherClass,
      `${removed}.requests | Forbidden: resource requests cannot be removed`,
      `${removed}.limits | Forbidden: resource limits cannot be removed`,
    ]);
    const storage = { ...resources.requests, 'ephemeral-storage': '1Gi' };
    const fixedOther = 'FieldValueForbidden | spec | Forbidden: only cpu and memory resources are mutable';
    assert.deepEqual(asked({ resources: { ...resources, requests: storage } }), [fixedOther]);
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    assert.deepEqual(asked({ resources, resizePolicy }), [fixedOther]);
  });

  it('refuses containers that come, leave or move', () => {
    const pod = create({ containers: [sized, { ...sized, name: 'd' }] });
    assert.deepEqual(resize(pod, [sized]).causes, [
      'FieldValueForbidden | spec.containers | Forbidden: containers may not be added or removed on resize',
    ]);
    const moved = resize(pod, [{ ...sized, name: 'd' }, sized]);
    assert.deepEqual(moved.causes, [
      'FieldValueForbidden | spec.containers[0].name | Forbidden: containers may not be renamed or reordered on resize',
      'FieldValueForbidden | spec.containers[1].name | Forbidden: containers may not be renamed or reordered on resize',
    ]);
    const withInit = tester.patch(pod, { spec: { initContainers: [sized] } }, 'resize');
    assert.ok(withInit.causes.some((cause) => cause.endsWith('initContainers may not be added or removed on resize')));
  });

  it('resizes init containers unless that needs a restart', () => {
    const init = { ...sized, name: 'i' };
    const restarting = { ...init, resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] };
    const more = { ...resources, requests: { cpu: '110m', memory: '100Mi' } };
    const asked = (one: object) =>
      tester.patch(
        {
          ...create({ containers: [sized], initContainers: [init] }),
          spec: { ...(create({ containers: [sized] }).spec as object), initContainers: [one] },
        } as ApiObject,
        { spec: { initContainers: [{ ...one, resources: more }] } },
        'resize',
      ).causes;
    const complete = (one: object) => ({
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
      ...one,
    });
    assert.deepEqual(asked(complete(init)), []);
    assert.ok(
      asked(complete(restarting)).includes(
        'FieldValueForbidden | spec.initContainers[0] | Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
      ),
    );
    assert.deepEqual(asked(complete({ ...restarting, restartPolicy: 'Always' })), []);
  });

  it('resizes whole pods, and keeps their resources when a client leaves them out', () => {
    // With a limit in each container, the pod would have a limit, too, which its requests must not exceed.
    const asking = { ...container, resources: { requests: { cpu: '1', memory: '1Gi' } } };
    const pod = create({ containers: [asking], resources: { requests: { cpu: '1', memory: '1Gi' } } });
    const changed = resize(pod, [asking], { resources: { requests: { cpu: '2', memory: '1Gi' } } });
    assert.deepEqual(changed.causes, []);
    assert.deepEqual(specOf(changed).resources, { requests: { cpu: '2', memory: '1Gi' } });
    const silent = tester.patch(pod, { spec: { resources: null } }, 'resize');
    assert.deepEqual([silent.causes, specOf(silent).resources], [[], { requests: { cpu: '1', memory: '1Gi' } }]);
    const plain = tester.patch(pod, { spec: { resources: null } });
    assert.deepEqual([plain.causes, specOf(plain).resources], [[], { requests: { cpu: '1', memory: '1Gi' } }]);
    const fewer = resize(pod, [asking], { resources: { requests: { cpu: '2', memory: null } } });
    assert.deepEqual(fewer.causes, []);
  });

  it('refuses mirrors of files, Windows, and nodes that can not resize', () => {
    const running = { name: 'c', state: { running: {} }, ready: true, restartCount: 0, image: 'i', imageID: '' };
    const pod = create({ containers: [sized] });
    const mirror = {
      ...pod,
      metadata: { ...pod.metadata, annotations: { [`${testNames.labelPrefix}/config.mirror`]: 'x' } },
    };
    const windows = { ...pod, spec: { ...(pod.spec as object), os: { name: 'windows' } } };
    const status = (one: object) => ({ ...pod, status: { ...(pod.status as object), containerStatuses: [one] } });
    const asked = (one: object) => resize(one as ApiObject, [sized]).causes;
    assert.deepEqual(asked(mirror), ['FieldValueForbidden | [] | Forbidden: static pods cannot be resized']);
    assert.deepEqual(asked(windows), ['FieldValueForbidden | [] | Forbidden: windows pods cannot be resized']);
    assert.deepEqual(asked(status(running)), [
      'FieldValueForbidden | spec | Forbidden: Pod running on node without support for resize',
    ]);
    assert.deepEqual(asked(status({ ...running, resources: {} })), []);
  });

  it('keeps what a node agent of an older release leaves out of the status', () => {
    const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 't' }];
    const pod = create({ containers: [sized], resourceClaims });
    const statuses = [{ name: 'gpu', resourceClaimName: 'p-gpu' }];
    const conditions = [{ type: 'Ready', status: 'True', observedGeneration: 3 }];
    const known = { ...(pod.status as object), observedGeneration: 4, resourceClaimStatuses: statuses, conditions };
    const patch = {
      observedGeneration: null,
      resourceClaimStatuses: null,
      conditions: [{ type: 'Ready', status: 'False' }],
    };
    const { object, causes } = tester.patch({ ...pod, status: known } as ApiObject, { status: patch }, 'status');
    const status = object.status as typeof known;
    assert.deepEqual(
      [causes, status.observedGeneration, status.resourceClaimStatuses, status.conditions[0]?.observedGeneration],
      [[], 4, statuses, 3],
    );
  });
});
