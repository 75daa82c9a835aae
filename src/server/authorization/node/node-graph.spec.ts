import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { atOnce } from '../../../base/machinery/turns.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { NodeGraph } from './node-graph.js';
import { podReferences, referenceKey } from './pod-references.js';
import { volumeReferences } from './volume-references.js';

const mirror = 'kubernetes.io/config.mirror';

function references(spec: object, annotations?: Record<string, string>) {
  const metadata = { name: 'p', namespace: 'ns', ...(annotations === undefined ? {} : { annotations }) };
  return podReferences({ metadata, spec: { nodeName: 'n', ...spec } } as unknown as Pod & ApiObject, mirror);
}

const secret = (name: string) => referenceKey('secret', 'ns', name);
const claim = (name: string) => referenceKey('claim', 'ns', name);

describe('references of a pod', () => {
  it('are those of all containers and volumes', () => {
    const container = (name: string) => ({
      env: [
        { name: 'a', value: 'b' },
        { name: 'c', valueFrom: { secretKeyRef: { name: `${name}-s`, key: 'k' } } },
        { name: 'd', valueFrom: { configMapKeyRef: { name: `${name}-c`, key: 'k' } } },
        { name: 'e', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      envFrom: [{ secretRef: { name: `${name}-sf` } }, { configMapRef: { name: `${name}-cf` } }, {}],
    });
    const { node, keys } = references({
      serviceAccountName: 'robot',
      containers: [container('main')],
      initContainers: [container('init')],
      ephemeralContainers: [container('debug')],
      imagePullSecrets: [{ name: 'pull' }, {}],
      volumes: [
        { name: 'a', azureFile: { secretName: 'azure' } },
        { name: 'b', cephfs: { secretRef: { name: 'ceph' } } },
        { name: 'c', cinder: { secretRef: { name: 'cinder' } } },
        { name: 'd', csi: { nodePublishSecretRef: { name: 'csi' } } },
        { name: 'e', flexVolume: { secretRef: { name: 'flex' } } },
        { name: 'f', iscsi: { secretRef: { name: 'iscsi' } } },
        { name: 'g', rbd: { secretRef: { name: 'rbd' } } },
        { name: 'h', scaleIO: { secretRef: { name: 'scale' } } },
        { name: 'i', storageos: { secretRef: { name: 'storage' } } },
        { name: 'j', emptyDir: {} },
        { name: 'k', projected: { sources: [{ secret: { name: 'ps' } }, { configMap: { name: 'pc' } }, {}] } },
        { name: 'l', ephemeral: { volumeClaimTemplate: {} } },
        { name: 'm', persistentVolumeClaim: { claimName: 'data' } },
      ],
    });
    assert.equal(node, 'n');
    const of = (kind: string) =>
      keys
        .filter((key) => key.startsWith(`${kind}/ns/`))
        .map((key) => key.slice(kind.length + 4))
        .sort();
    const inContainers = (ending: string) => ['debug', 'init', 'main'].map((name) => `${name}-${ending}`);
    const volumes = ['azure', 'ceph', 'cinder', 'csi', 'flex', 'iscsi', 'ps', 'rbd', 'scale', 'storage'];
    assert.deepEqual(of('secret'), [...inContainers('s'), ...inContainers('sf'), ...volumes, 'pull'].sort());
    assert.deepEqual(of('configmap'), [...inContainers('c'), ...inContainers('cf'), 'pc'].sort());
    assert.deepEqual(of('claim'), ['data', 'p-l']);
    assert.deepEqual(of('account'), ['robot']);
  });

  it('do not exist for unscheduled pods, nor for mirror pods beyond their node', () => {
    const spec = { imagePullSecrets: [{ name: 'pull' }] };
    assert.deepEqual(references({ ...spec, nodeName: '' }), { node: '', keys: [] });
    assert.deepEqual(references(spec, { [mirror]: '' }), { node: 'n', keys: [] });
    assert.deepEqual(references(spec, { other: '' }), { node: 'n', keys: [secret('pull')] });
  });
});

describe('references of a volume', () => {
  it('are its claim, and the secrets that nodes use', () => {
    const of = (spec: object) => volumeReferences({ spec } as unknown as PersistentVolume);
    const claimRef = { namespace: 'ns', name: 'data' };
    const csi = {
      controllerPublishSecretRef: { name: 'a' },
      controllerExpandSecretRef: { name: 'b' },
      nodePublishSecretRef: { name: 'c', namespace: 'other' },
      nodeStageSecretRef: { name: 'd' },
      nodeExpandSecretRef: { name: 'e' },
    };
    const keys = [referenceKey('secret', 'other', 'c'), secret('d'), secret('e')];
    assert.deepEqual(of({ claimRef, csi }), { claim: claim('data'), secrets: keys });
    const azureFile = { secretName: 'a', secretNamespace: 'vault' };
    assert.deepEqual(of({ claimRef, azureFile }).secrets, [referenceKey('secret', 'vault', 'a')]);
    assert.deepEqual(of({ claimRef, azureFile: { secretName: 'a', secretNamespace: null } }).secrets, [secret('a')]);
    assert.deepEqual(of({ csi }), { claim: '', secrets: [] });
  });
});

describe('the graph of the objects that nodes need', () => {
  it('leads from pods to the objects that they name, and through claims to the secrets of volumes', () => {
    const graph = new NodeGraph();
    graph.setPod('ns/p', { node: 'n1', keys: [secret('s'), claim('c')] });
    graph.setVolume('pv', { claim: claim('c'), secrets: [secret('of-volume')] });
    graph.attachments.set('va', 'n1');
    for (const key of [secret('s'), claim('c'), secret('of-volume')]) {
      assert.equal(graph.refersTo('n1', key), true, key);
      assert.equal(graph.refersTo('n2', key), false, key);
    }
    assert.equal(graph.usesVolume('n1', 'pv'), true);
    assert.equal(graph.usesVolume('n2', 'pv'), false);
    assert.equal(graph.usesVolume('n1', 'other'), false);
    assert.equal(graph.attachments.isOf('n1', 'va'), true);
    assert.equal(graph.attachments.isOf('n2', 'va'), false);
    // A name that looks like a key of another kind does not match it.
    assert.equal(graph.refersTo('n1', referenceKey('configmap', 'ns', 's')), false);
  });

  it('follows pods that change, move and go', () => {
    const graph = new NodeGraph();
    graph.setPod('ns/p', { node: 'n1', keys: [secret('a')] });
    graph.setPod('ns/p', { node: 'n1', keys: [secret('a'), secret('b')] });
    assert.equal(graph.refersTo('n1', secret('b')), true);
    graph.setPod('ns/p', { node: 'n2', keys: [secret('a')] });
    assert.equal(graph.refersTo('n1', secret('a')), false);
    assert.equal(graph.refersTo('n2', secret('a')), true);
    assert.equal(graph.refersTo('n2', secret('b')), false);
    graph.setPod('ns/q', { node: 'n2', keys: [secret('a')] });
    graph.deletePod('ns/p');
    assert.equal(graph.refersTo('n2', secret('a')), true);
    graph.deletePod('ns/q');
    graph.deletePod('ns/q');
    assert.deepEqual(graph.sizes, { pods: 0, nodes: 0, targets: 0, volumes: 0 });
  });

  it('follows volumes that change and go, before or after their pods', () => {
    const graph = new NodeGraph();
    graph.setVolume('pv', { claim: claim('c'), secrets: [secret('s')] });
    assert.equal(graph.refersTo('n', secret('s')), false);
    graph.setPod('ns/p', { node: 'n', keys: [claim('c')] });
    assert.equal(graph.refersTo('n', secret('s')), true);
    graph.setVolume('pv', { claim: claim('c'), secrets: [secret('t')] });
    assert.equal(graph.refersTo('n', secret('s')), false);
    assert.equal(graph.refersTo('n', secret('t')), true);
    graph.setVolume('pv', { claim: claim('other'), secrets: [secret('t')] });
    assert.equal(graph.refersTo('n', secret('t')), false);
    graph.setVolume('pv', { claim: '', secrets: [] });
    graph.deletePod('ns/p');
    assert.deepEqual(graph.sizes, { pods: 0, nodes: 0, targets: 0, volumes: 0 });
  });

  it('keeps nothing that a fresh graph does not have', () => {
    const graph = new NodeGraph();
    graph.setPod('ns/gone', { node: 'n', keys: [secret('gone')] });
    graph.setVolume('gone', { claim: claim('gone'), secrets: [] });
    graph.attachments.set('gone', 'n');
    atOnce(graph.replacingPods(new Map([['ns/p', { node: 'n', keys: [secret('s')] }]])));
    atOnce(graph.replacingVolumes(new Map()));
    atOnce(graph.attachments.replacing(new Map([['va', 'n']])));
    assert.equal(graph.refersTo('n', secret('gone')), false);
    assert.equal(graph.attachments.isOf('n', 'gone'), false);
    assert.equal(graph.attachments.isOf('n', 'va'), true);
    assert.deepEqual(graph.sizes, { pods: 1, nodes: 1, targets: 1, volumes: 0 });
  });

  it('reports new references until nobody listens', () => {
    const graph = new NodeGraph();
    let calls = 0;
    const stop = graph.onGrowth(() => calls++);
    graph.setPod('ns/p', { node: 'n', keys: [] });
    graph.setPod('ns/p', { node: 'n', keys: [] });
    graph.attachments.set('va', 'n');
    assert.equal(calls, 2);
    stop();
    graph.setPod('ns/q', { node: 'n', keys: [] });
    assert.equal(calls, 2);
  });
});
