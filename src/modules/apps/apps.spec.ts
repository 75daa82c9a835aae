import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames, testTime } from '../../../test/support/definition-tester.js';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { type ResourceDefinition, subresourcesOf } from '../../objects/registry/resource-definition.js';
import type { ViewSubresource } from '../../objects/registry/subresource-definition.js';
import { appsResources } from './apps-api.module.js';
import { controllerRevisionResource } from './controller-revision/controller-revision.resource.js';
import { daemonSetResource } from './daemon-set/daemon-set.resource.js';
import { deploymentResource } from './deployment/deployment.resource.js';
import { replicaSetResource } from './replica-set/replica-set.resource.js';
import { statefulSetResource } from './stateful-set/stateful-set.resource.js';

const selector = { matchLabels: { app: 'a' } };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'img:1' }] } };
const valid = { spec: { selector, template } };

const deployments = new DefinitionTester(deploymentResource(testNames));
const replicaSets = new DefinitionTester(replicaSetResource(testNames));
const statefulSets = new DefinitionTester(statefulSetResource(testNames));
const daemonSets = new DefinitionTester(daemonSetResource(testNames));
const revisions = new DefinitionTester(controllerRevisionResource(testNames));

/** The spec without the fields that the client sent. */
function defaultsOf({ spec }: ApiObject): Record<string, unknown> {
  const { selector: _selector, template: _template, ...rest } = spec as Record<string, unknown>;
  return rest;
}

describe('defaults of the apps group', () => {
  it('has them for every kind', () => {
    assert.deepEqual(defaultsOf(deployments.create(valid).object), {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    assert.deepEqual(defaultsOf(replicaSets.create(valid).object), { replicas: 1 });
    assert.deepEqual(defaultsOf(statefulSets.create(valid).object), {
      replicas: 1,
      serviceName: '',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 1 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    assert.deepEqual(defaultsOf(daemonSets.create(valid).object), {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    });
  });

  it('completes claims of stateful sets', () => {
    const claim = { metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'] } };
    const spec = { ...valid.spec, volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy: {} };
    const made = statefulSets.create({ spec }).object.spec as Record<string, unknown>;
    assert.deepEqual(made.volumeClaimTemplates, [
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: { name: 'v' },
        spec: { accessModes: ['ReadWriteOnce'], resources: {}, volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ]);
    assert.deepEqual(made.persistentVolumeClaimRetentionPolicy, { whenDeleted: 'Retain', whenScaled: 'Retain' });
  });

  it('lets a surge replace unavailable pods', () => {
    const updateStrategy = { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } };
    const { object, causes } = daemonSets.create({ spec: { ...valid.spec, updateStrategy } });
    assert.deepEqual(causes, []);
    assert.deepEqual(defaultsOf(object).updateStrategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 2 },
    });
    assert.deepEqual(
      daemonSets.create({
        spec: { ...valid.spec, updateStrategy: { rollingUpdate: { maxSurge: 2 } } },
      }).causes,
      [
        'FieldValueInvalid | spec.updateStrategy.rollingUpdate.maxSurge | Invalid value: 2: may not be set when maxUnavailable is non-zero',
      ],
    );
  });
});

describe('generations of the apps group', () => {
  const image = { spec: { template: { spec: { hostname: 'h' } } } };
  const annotation = { metadata: { annotations: { x: 'y' } } };
  const label = { metadata: { labels: { x: 'y' } } };

  it('count changes of the spec, and of annotations for deployments', () => {
    for (const tester of [deployments, replicaSets, statefulSets, daemonSets]) {
      const { object } = tester.create(valid);
      assert.equal(object.metadata.generation, 1);
      assert.equal(tester.patch(object, image).object.metadata.generation, 2);
      assert.equal(tester.patch(object, label).object.metadata.generation, 1);
      const expected = tester === deployments ? 2 : 1;
      assert.equal(tester.patch(object, annotation).object.metadata.generation, expected);
    }
  });

  it('count the templates of daemon sets in an annotation', () => {
    const key = 'deprecated.daemonset.template.generation';
    const { object } = daemonSets.create(valid);
    assert.equal(object.metadata.annotations?.[key], '1');
    assert.equal(daemonSets.patch(object, image).object.metadata.annotations?.[key], '2');
    const forged = { metadata: { annotations: { [key]: '9' } } };
    assert.equal(daemonSets.patch(object, forged).object.metadata.annotations?.[key], '1');
    for (const [text, expected] of [
      ['9', '9'],
      ['+4', '4'],
      ['-4', '1'],
      ['x', '1'],
    ] as const) {
      const { metadata } = daemonSets.create({ ...valid, metadata: { annotations: { [key]: text } } }).object;
      assert.equal(metadata.annotations?.[key], expected, text);
    }
  });
});

describe('status paths of the apps group', () => {
  it('keep the spec, and the labels of deployments', () => {
    const patch = { metadata: { labels: { x: 'y' }, annotations: { a: 'b' } }, spec: { replicas: 9 } };
    for (const tester of [deployments, replicaSets, statefulSets, daemonSets]) {
      const { object } = tester.create(valid);
      const changed = tester.patch(object, { ...patch, status: { observedGeneration: 1 } }, 'status').object;
      assert.deepEqual(changed.spec, object.spec);
      assert.deepEqual(changed.metadata.labels, tester === deployments ? undefined : { x: 'y' });
      assert.equal(changed.metadata.annotations?.a, 'b');
      assert.equal((changed.status as { observedGeneration: number }).observedGeneration, 1);
      assert.equal(changed.metadata.generation, 1);
    }
  });
});

function scaleOf(definition: ResourceDefinition): ViewSubresource | undefined {
  return subresourcesOf(definition).find((subresource) => subresource.type === 'view');
}

describe('scale paths of the apps group', () => {
  const scalable = appsResources(testNames).filter((d) => scaleOf(d) !== undefined);

  it('are served for kinds with replicas', () => {
    assert.deepEqual(
      scalable.map((d) => d.kind),
      ['Deployment', 'ReplicaSet', 'StatefulSet'],
    );
  });

  for (const definition of scalable) {
    const path = scaleOf(definition) as ViewSubresource;
    const tester = new DefinitionTester(definition);

    it(`shows and sets the replicas of a ${definition.kind}`, () => {
      const { object } = tester.create({ spec: { ...valid.spec, replicas: 3 } });
      object.metadata.resourceVersion = '7';
      const shown = path.read(object);
      assert.deepEqual(shown, {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: {
          name: 'a',
          namespace: 'default',
          uid: object.metadata.uid,
          resourceVersion: '7',
          creationTimestamp: testTime,
        },
        spec: { replicas: 3 },
        status: { replicas: 0, selector: 'app=a' },
      });
      const none = path.write({} as never, object, { metadata: {}, spec: {} } as ApiObject) as ApiObject;
      assert.equal(defaultsOf(none).replicas, 0);
      assert.deepEqual(path.read(none).spec, {});
    });

    it(`refuses a negative number of replicas of a ${definition.kind}`, () => {
      const { object } = tester.create(valid);
      const body = { metadata: {}, spec: { replicas: -1 } } as ApiObject;
      assert.throws(
        () => path.write({} as never, object, body),
        (error) =>
          error instanceof StatusError &&
          error.code === 422 &&
          error.message ===
            'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      );
    });
  }
});

describe('tables of the apps group', () => {
  it('show counts and templates', () => {
    const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 1, updatedReplicas: 3 };
    const show = (tester: DefinitionTester, status: Record<string, unknown>) =>
      tester.cells(tester.patch(tester.create(valid).object, { status }, 'status').object, 60);
    assert.deepEqual(show(deployments, counts), ['a', '2/1', 3, 1, '60s', 'c', 'img:1', 'app=a']);
    assert.deepEqual(show(replicaSets, counts), ['a', 1, 3, 2, '60s', 'c', 'img:1', 'app=a']);
    assert.deepEqual(show(statefulSets, counts), ['a', '2/1', '60s', 'c', 'img:1']);
    const nodes = {
      desiredNumberScheduled: 5,
      currentNumberScheduled: 4,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
    };
    assert.deepEqual(show(daemonSets, nodes), ['a', 5, 4, 3, 2, 1, '<none>', '60s', 'c', 'img:1', 'app=a']);
  });
});

describe('ControllerRevision', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 'u', controller: true };

  it('keeps its data', () => {
    const { object, causes } = revisions.create({
      data: { a: 1 },
      revision: 3,
      metadata: { ownerReferences: [owner] },
    });
    assert.deepEqual(causes, []);
    assert.deepEqual(revisions.cells(object), ['a', 'statefulset.apps/s', '3', '0s']);
    assert.deepEqual(revisions.patch(object, { revision: 4 }).causes, []);
    assert.deepEqual(revisions.patch(object, { data: { a: 2 } }).causes, [
      'FieldValueInvalid | data | Invalid value: {"a":2}: field is immutable',
    ]);
  });

  it('needs data and a number', () => {
    assert.deepEqual(revisions.create({ revision: -1 }).causes, [
      'FieldValueInvalid | revision | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueRequired | data | Required value: data is mandatory',
    ]);
    for (const data of ['x', 1, true, [{}]]) {
      assert.deepEqual(revisions.create({ data, revision: 1 }).causes, [
        'FieldValueRequired | data | Required value: data must be a valid JSON object',
      ]);
    }
  });
});
