import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isQuiet } from './quiet-update.js';

const managers = (time: string, manager = 'kubelet') => [
  { manager, operation: 'Update', time, fieldsV1: { 'f:status': { 'k:{"type":"Ready"}': { '.': {} } } } },
];
const conditions = (reason: string) => [{ type: 'Ready', status: 'True', reason, message: 'a }] in a "message"' }];
const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', labels: { app: 'web' }, managedFields: managers('1') },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'img:1' }] },
  status: {
    phase: 'Running',
    conditions: conditions('one'),
    containerStatuses: [{ name: 'c', restartCount: 1, state: { terminated: { reason: 'Error', message: 'b' } } }],
  },
};

/** Whether the change of a pod from one object to another is quiet, as their texts are stored. */
function isQuietPod(after: unknown, before: unknown = pod): boolean {
  return isQuiet('pods', JSON.stringify(before), JSON.stringify(after));
}

function withMetadata(metadata: object): unknown {
  return { ...pod, metadata: { name: 'a', labels: { app: 'web' }, ...metadata, managedFields: managers('2') } };
}

function withStatus(status: object): unknown {
  return { ...pod, metadata: { ...pod.metadata, managedFields: managers('2') }, status: { ...pod.status, ...status } };
}

describe('isQuiet', () => {
  it('finds heartbeats quiet', () => {
    assert.equal(isQuietPod(withMetadata({})), true);
    assert.equal(isQuietPod(withStatus({ conditions: conditions('two') })), true);
    assert.equal(isQuietPod(withStatus({ podIP: '10.0.0.1', observedGeneration: 2 })), true);
    const [container] = pod.status.containerStatuses;
    assert.equal(isQuietPod(withStatus({ containerStatuses: [{ ...container, restartCount: 2 }] })), true);
    // Without conditions, and with conditions that appear.
    assert.equal(isQuietPod(withStatus({ conditions: [] })), true);
    assert.equal(isQuietPod(pod, withStatus({ conditions: [] })), true);
  });

  it('finds nothing quiet that a row may show', () => {
    const loud: readonly unknown[] = [
      withMetadata({ labels: { app: 'db' } }),
      withMetadata({ deletionTimestamp: '2026-01-01T00:00:00Z' }),
      withMetadata({ ownerReferences: [{ kind: 'ReplicaSet', name: 'a', controller: true }] }),
      { ...pod, spec: { ...pod.spec, nodeName: 'n2' } },
      { ...pod, spec: { ...pod.spec, containers: [{ name: 'c', image: 'img:2' }] } },
      withStatus({ phase: 'Failed' }),
      withStatus({ phase: undefined }),
      withStatus({ reason: 'Evicted' }),
      withStatus({ reason: 'with "quotes" }] {' }),
      ...['waiting', 'terminated'].map((state) =>
        withStatus({ containerStatuses: [{ name: 'c', restartCount: 1, state: { [state]: { reason: 'Other' } } }] }),
      ),
      withStatus({ containerStatuses: [{ name: 'c', restartCount: 1, state: { running: {} } }] }),
      withStatus({ conditions: [], containerStatuses: [{ state: { waiting: { reason: 'Other' } } }] }),
      { ...pod, status: undefined },
    ];
    for (const one of loud) {
      assert.equal(isQuietPod(one), false, JSON.stringify(one));
      assert.equal(isQuietPod(pod, one), false, JSON.stringify(one));
    }
    const reasons = ['a\\', 'a\\"', 'a"b', 'a"c'].map((reason) => withStatus({ reason }));
    for (const [i, before] of reasons.entries()) {
      for (const [j, after] of reasons.entries()) assert.equal(isQuietPod(after, before), i === j);
    }
  });

  it('takes no text in another form for quiet', () => {
    const { managedFields, ...others } = pod.metadata;
    const unmanaged = { ...pod, metadata: others };
    assert.equal(isQuietPod(unmanaged, unmanaged), false);
    const first = (app: string) => ({ ...pod, metadata: { managedFields, labels: { app } } });
    assert.equal(isQuietPod(first('a'), first('b')), false);
    assert.equal(isQuiet('pods', '"enc:abc"', '"enc:abd"'), false);
    assert.equal(isQuiet('pods', '', ''), false);
  });

  it('compares nothing but the metadata of leases and endpoints', () => {
    const lease = (renewTime: string, labels = {}) =>
      JSON.stringify({ kind: 'Lease', metadata: { labels, managedFields: managers(renewTime) }, spec: { renewTime } });
    for (const resource of ['leases.coordination.k8s.io', 'endpoints', 'endpointslices.discovery.k8s.io']) {
      assert.equal(isQuiet(resource, lease('1'), lease('2')), true);
      assert.equal(isQuiet(resource, lease('1'), lease('2', { a: 'b' })), false);
    }
    for (const resource of ['events', 'configmaps', 'nodes', 'pods.example.com']) {
      assert.equal(isQuiet(resource, lease('1'), lease('2')), false);
    }
  });
});
