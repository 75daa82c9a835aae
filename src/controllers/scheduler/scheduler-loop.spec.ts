import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import type { Event } from '../../apis/core/v1/event.types.js';
import type { Node } from '../../apis/core/v1/node.types.js';
import type { Pod } from '../../apis/core/v1/pod.types.js';
import type { ApiObject } from '../../machinery/api-object.js';

type StoredPod = Pod & ApiObject;
type StoredNode = Node & ApiObject;
type StoredEvent = Event & ApiObject;

describe('SchedulerLoop', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
  });
  afterEach(() => scene.end());

  function node(name: string, cpu = '4', { labels = {}, spec = {} }: { labels?: object; spec?: object } = {}) {
    return scene.create<StoredNode>('nodes', {
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      spec,
      status: { allocatable: { cpu, memory: '8Gi', pods: '110' } },
    } as object);
  }

  function pod(name: string, cpu = '1', spec: object = {}, metadata: object = {}) {
    return scene.create<StoredPod>('pods', {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...spec },
    } as object);
  }

  const placed = (name: string) =>
    scene.until<StoredPod, string>('pods', `${name} gets a node`, (pods) => {
      return pods.find(({ metadata }) => metadata.name === name)?.spec.nodeName;
    });

  const refused = (name: string) =>
    scene.until<StoredPod, string>('pods', `${name} is refused`, (pods) => {
      const found = pods.find(({ metadata }) => metadata.name === name);
      return found?.status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
        ?.message;
    });

  const event = (reason: string, of: string) =>
    scene.until<StoredEvent, StoredEvent>('events', `${reason} of ${of}`, (events) =>
      events.find((one) => one.reason === reason && one.involvedObject.name === of),
    );

  it('binds pods by resources, taints and selectors, and says so in events and conditions', async () => {
    await scene.run(['scheduler']);
    await node('small', '1');
    await node('tainted', '8', { spec: { taints: [{ key: 'own', value: 'mine', effect: 'NoSchedule' }] } });
    await node('labelled', '4', { labels: { disk: 'ssd' } });
    await pod('large', '3');
    await pod('small-by-name', '500m', { nodeSelector: { 'kubernetes.io/hostname': 'small' } });
    await pod('tolerant', '6', { tolerations: [{ operator: 'Exists' }] });
    assert.equal(await placed('large'), 'labelled');
    assert.equal(await placed('small-by-name'), 'small');
    assert.equal(await placed('tolerant'), 'tainted');

    const { message, type, source, involvedObject } = await event('Scheduled', 'large');
    assert.equal(message, 'Successfully assigned default/large to labelled');
    assert.deepEqual([type, source?.component, involvedObject.kind], ['Normal', 'default-scheduler', 'Pod']);
    const { status, metadata } = await scene.get<StoredPod>('pods', 'default', 'large');
    const [condition] = status.conditions ?? [];
    assert.deepEqual([condition?.type, condition?.status], ['PodScheduled', 'True']);
    assert.ok(metadata.managedFields?.some(({ subresource }) => subresource === 'binding'));

    await pod('none', '6');
    const text = '0/3 nodes are available: 1 node(s) had untolerated taint {own: mine}, 2 Insufficient cpu.';
    assert.ok((await refused('none')).startsWith(text), await refused('none'));
    const failed = await event('FailedScheduling', 'none');
    assert.equal(failed.type, 'Warning');
    assert.equal(failed.message, await refused('none'));
  });

  it('tries a refused pod again when a node comes, a node changes or a pod goes', async () => {
    await scene.run(['scheduler']);
    await pod('first', '3');
    assert.equal(await refused('first'), 'no nodes available to schedule pods');
    await node('a');
    assert.equal(await placed('first'), 'a');
    await pod('second', '3');
    assert.match(await refused('second'), /^0\/1 nodes are available: 1 Insufficient cpu\./);
    await scene.delete('pods', 'default', 'first', { gracePeriodSeconds: 0 });
    assert.equal(await placed('second'), 'a');
    await pod('third', '3', { nodeSelector: { disk: 'ssd' } });
    assert.match(await refused('third'), /1 node\(s\) didn't match Pod's node affinity\/selector/);
    await node('b');
    await scene.update<StoredNode>('nodes', '', 'b', (live) => {
      live.metadata.labels = { ...live.metadata.labels, disk: 'ssd' };
    });
    assert.equal(await placed('third'), 'b');
  });

  it('places only the pods of its own name, and those without gates', async () => {
    await scene.run(['scheduler']);
    await node('a');
    await pod('foreign', '1', { schedulerName: 'another' });
    await pod('gated', '1', { schedulingGates: [{ name: 'example.com/wait' }] });
    await pod('own');
    assert.equal(await placed('own'), 'a');
    assert.equal((await scene.get<StoredPod>('pods', 'default', 'gated')).spec.nodeName, undefined);
    await scene.update<StoredPod>('pods', 'default', 'gated', (live) => {
      live.spec.schedulingGates = [];
    });
    assert.equal(await placed('gated'), 'a');
    assert.equal((await scene.get<StoredPod>('pods', 'default', 'foreign')).spec.nodeName, undefined);
  });
});
