import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

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
    const { status } = await scene.get<StoredPod>('pods', 'default', 'large');
    const [condition] = status.conditions ?? [];
    assert.deepEqual([condition?.type, condition?.status], ['PodScheduled', 'True']);
    assert.match(await scene.storedText('pods', 'default', 'large'), /"subresource":"binding"/);

    await pod('none', '6');
    const text = '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.';
    assert.ok((await refused('none')).startsWith(text), await refused('none'));
    const failed = await event('FailedScheduling', 'none');
    assert.equal(failed.type, 'Warning');
    assert.equal(failed.message, await refused('none'));

    const profile = 'default-scheduler';
    const attempts = (result: string) => scene.counted('scheduler_schedule_attempts_total', { result, profile });
    assert.equal(await attempts('scheduled'), 3);
    assert.ok((await attempts('unschedulable')) >= 1);
    assert.equal(await scene.counted('scheduler_pod_scheduling_attempts_count'), 3);
    assert.equal(await scene.counted('scheduler_pending_pods', { queue: 'unschedulable' }), 1);
    assert.equal(await scene.counted('scheduler_unschedulable_pods', { plugin: 'NodeResourcesFit' }), 1);
    assert.equal(await scene.counted('scheduler_cache_size', { type: 'nodes' }), 3);
    assert.equal(await scene.counted('scheduler_cache_size', { type: 'pods' }), 3);
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

  it('says in an event that a waiting pod gets no node once it is about to be deleted', async () => {
    await scene.run(['scheduler']);
    await pod('held', '3', {}, { finalizers: ['example.com/hold'] });
    await refused('held');
    await scene.delete('pods', 'default', 'held');
    const text = 'skip schedule deleting pod: default/held';
    const said = await scene.until<StoredEvent, StoredEvent>('events', 'held is skipped', (events) =>
      events.find(({ message }) => message === text),
    );
    assert.deepEqual([said.type, said.reason], ['Warning', 'FailedScheduling']);
    await node('a');
    await pod('other');
    assert.equal(await placed('other'), 'a');
    assert.equal((await scene.get<StoredPod>('pods', 'default', 'held')).spec.nodeName, undefined);
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

  describe('preemption', () => {
    const victims = (...names: string[]) =>
      scene.until<StoredPod, readonly StoredPod[]>('pods', `${names.join()} have to go`, (pods) => {
        const found = pods.filter(({ metadata }) => names.includes(metadata.name ?? ''));
        const isMarked = ({ metadata, status }: StoredPod) =>
          metadata.deletionTimestamp !== undefined &&
          status.conditions?.some(
            ({ type, reason, observedGeneration }) =>
              type === 'DisruptionTarget' && reason === 'PreemptionByScheduler' && Number(observedGeneration) > 0,
          );
        return found.length === names.length && found.every(isMarked) ? found : undefined;
      });

    it('makes room for a more important pod, waits for it and takes it', async () => {
      await scene.run(['scheduler']);
      await node('a');
      await pod('low', '3', { priority: 1 });
      await placed('low');
      await pod('high', '3', { priority: 10 });
      await victims('low');
      const nominated = await scene.until<StoredPod, StoredPod>('pods', 'a nomination', (pods) =>
        pods.find(({ metadata, status }) => metadata.name === 'high' && status.nominatedNodeName === 'a'),
      );
      assert.equal(
        await refused('high'),
        '0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node a, preempting 1 victims',
      );
      const preempted = await event('Preempted', 'low');
      assert.equal(preempted.message, `Preempted by pod ${nominated.metadata.uid} on node a`);
      // A less important pod must not take the space.
      await pod('middle', '3', { priority: 5 });
      assert.match(await refused('middle'), /^0\/1 nodes are available: 1 Insufficient cpu\. preemption: /);
      await scene.delete('pods', 'default', 'low', { gracePeriodSeconds: 0 });
      assert.equal(await placed('high'), 'a');
      assert.equal((await scene.get<StoredPod>('pods', 'default', 'middle')).spec.nodeName, undefined);
    });

    it('leaves alone what is as important, and asks pods that never preempt to wait', async () => {
      await scene.run(['scheduler']);
      await node('a');
      await pod('first', '3', { priority: 5 });
      await placed('first');
      await pod('same', '3', { priority: 5 });
      assert.equal(
        await refused('same'),
        '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
      );
      await pod('modest', '3', { priority: 50, preemptionPolicy: 'Never' });
      assert.equal(
        await refused('modest'),
        '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.',
      );
      await pod('elsewhere', '3', { priority: 50, nodeSelector: { no: 'where' } });
      assert.equal(
        await refused('elsewhere'),
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
      );
      const { metadata } = await scene.get<StoredPod>('pods', 'default', 'first');
      assert.equal(metadata.deletionTimestamp, undefined);
    });

    it('violates a budget only when it must', async () => {
      await scene.run(['scheduler']);
      await scene.create('poddisruptionbudgets.policy', {
        metadata: { name: 'b', namespace: 'default' },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'guarded' } } },
      } as object);
      await node('a');
      await node('b');
      await pod(
        'guarded',
        '3',
        { priority: 1, nodeSelector: { 'kubernetes.io/hostname': 'a' } },
        { labels: { app: 'guarded' } },
      );
      await pod('open', '3', { priority: 2, nodeSelector: { 'kubernetes.io/hostname': 'b' } });
      await placed('guarded');
      await placed('open');
      await pod('high', '3', { priority: 10 });
      await victims('open');
      await pod('higher', '3', { priority: 11, nodeSelector: { 'kubernetes.io/hostname': 'a' } });
      await victims('guarded');
    });
  });

  describe('volumes', () => {
    const claim = (name: string, storageClassName: string, rest: object = {}) =>
      scene.create('persistentvolumeclaims', {
        metadata: { name, namespace: 'default' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName,
          resources: { requests: { storage: '1Gi' } },
          ...rest,
        },
      } as object);
    const volume = (name: string, on: string, storageClassName: string, rest: object = {}) =>
      scene.create('persistentvolumes', {
        metadata: { name },
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '2Gi' },
          local: { path: '/x' },
          storageClassName,
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [on] }] },
              ],
            },
          },
          ...rest,
        },
        status: { phase: 'Available' },
      } as object);
    const using = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });
    const storageClass = (name: string, volumeBindingMode: string, provisioner = 'kubernetes.io/no-provisioner') =>
      scene.create('storageclasses.storage', { metadata: { name }, provisioner, volumeBindingMode } as object);
    const bindClaim = (name: string, volumeName: string) =>
      scene.update<ApiObject & { spec: { volumeName?: string } }>('persistentvolumeclaims', 'default', name, (live) => {
        live.spec.volumeName = volumeName;
        live.metadata.annotations = { ...live.metadata.annotations, 'pv.kubernetes.io/bind-completed': 'yes' };
      });

    it('follows bound volumes to their node and says what a claim waits for', async () => {
      await scene.run(['scheduler']);
      await node('a');
      await node('b');
      await pod('early', '1', using('data'));
      assert.equal(
        await refused('early'),
        '0/2 nodes are available: persistentvolumeclaim "data" not found. not found',
      );
      await storageClass('now', 'Immediate');
      await claim('data', 'now');
      await scene.until<StoredPod, true>('pods', 'the next message', ([one]) =>
        one?.status.conditions?.some(({ message }) =>
          /pod has unbound immediate PersistentVolumeClaims\. not found/.test(message ?? ''),
        ),
      );
      await volume('pv', 'b', 'now');
      await bindClaim('data', 'pv');
      assert.equal(await placed('early'), 'b');
    });

    it('takes no more volumes to a node than the drivers there can attach', async () => {
      await scene.run(['scheduler']);
      const driver = 'disks.example.com';
      const drivers = [{ name: driver, nodeID: 'a', topologyKeys: [], allocatable: { count: 1 } }];
      await scene.create('csinodes.storage', { metadata: { name: 'a' }, spec: { drivers } } as object);
      await node('a');
      await storageClass('csi', 'Immediate', driver);
      for (const name of ['one', 'two']) {
        await claim(name, 'csi');
        await scene.create('persistentvolumes', {
          metadata: { name },
          spec: {
            accessModes: ['ReadWriteOnce'],
            capacity: { storage: '2Gi' },
            csi: { driver, volumeHandle: `handle-${name}` },
            storageClassName: 'csi',
          },
        } as object);
        await bindClaim(name, name);
      }
      await pod('first', '1', using('one'));
      assert.equal(await placed('first'), 'a');
      await pod('twin', '1', using('one'));
      assert.equal(await placed('twin'), 'a');
      await pod('second', '1', using('two'));
      assert.match(await refused('second'), /^0\/1 nodes are available: 1 node\(s\) exceed max volume count\./);
      for (const name of ['first', 'twin']) await scene.delete('pods', 'default', name, { gracePeriodSeconds: 0 });
      assert.equal(await placed('second'), 'a');
    });

    it('chooses node and volume together for a claim that waits for its first pod', async () => {
      await scene.run(['scheduler']);
      await node('a');
      await node('b');
      await storageClass('local', 'WaitForFirstConsumer');
      await claim('data', 'local');
      await pod('user', '1', using('data'));
      assert.match(
        await refused('user'),
        /^0\/2 nodes are available: 2 node\(s\) didn't find available persistent volumes to bind\. /,
      );
      await volume('pv', 'b', 'local');
      await scene.until<ApiObject & { spec: { claimRef?: { name?: string } } }, true>(
        'persistentvolumes',
        'a reservation',
        ([pv]) => (pv?.spec.claimRef?.name === 'data' ? true : undefined),
      );
      await bindClaim('data', 'pv');
      assert.equal(await placed('user'), 'b');

      await storageClass('made', 'WaitForFirstConsumer', 'example.com/disks');
      await claim('fresh', 'made');
      await pod('other', '1', { ...using('fresh'), nodeSelector: { 'kubernetes.io/hostname': 'a' } });
      await scene.until('persistentvolumeclaims', 'a selected node', (claims) =>
        claims.some(({ metadata }) => metadata.annotations?.['volume.kubernetes.io/selected-node'] === 'a'),
      );
    });

    it('keeps the room of a pod whose claims are not bound yet, and lets others pass', async () => {
      await scene.run(['scheduler']);
      await node('a', '2');
      await storageClass('made', 'WaitForFirstConsumer', 'example.com/disks');
      await claim('data', 'made');
      await pod('user', '1500m', using('data'));
      const selected = 'volume.kubernetes.io/selected-node';
      const isSelected = (claims: readonly ApiObject[]) =>
        claims.some(({ metadata }) => metadata.annotations?.[selected] === 'a');
      await scene.until('persistentvolumeclaims', 'a selected node', isSelected);
      await pod('large', '1');
      assert.match(await refused('large'), /Insufficient cpu/);
      await pod('small', '100m');
      assert.equal(await placed('small'), 'a');
      await scene.delete('pods', 'default', 'large', { gracePeriodSeconds: 0 });
      // The provisioner can't make the volume there, so the pod looks for a node again.
      await scene.update('persistentvolumeclaims', 'default', 'data', ({ metadata }) => {
        metadata.annotations = {};
      });
      await scene.until('persistentvolumeclaims', 'the node is selected again', isSelected);
      await volume('pv', 'a', 'made');
      await bindClaim('data', 'pv');
      assert.equal(await placed('user'), 'a');
    });

    it('gets its claim bound by the loop that binds claims', async () => {
      await scene.run(['scheduler', 'persistentvolume-binder']);
      await node('a');
      await node('b');
      await storageClass('local', 'WaitForFirstConsumer');
      await volume('pv', 'b', 'local');
      await claim('data', 'local');
      await pod('user', '1', using('data'));
      assert.equal(await placed('user'), 'b');
    });
  });

  it('spreads the pods of a workload, and keeps apart what wants to be alone', async () => {
    await scene.run(['scheduler']);
    await Promise.all(['a', 'b', 'c'].map((name) => node(name, '40')));
    await scene.create('services', {
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    } as object);
    const labels = { app: 'web' };
    for (let i = 0; i < 6; i++) await pod(`web-${i}`, '100m', {}, { labels });
    const counts = new Map<string, number>();
    for (let i = 0; i < 6; i++) {
      const name = await placed(`web-${i}`);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    assert.deepEqual([...counts.values()], [2, 2, 2]);
    const alone = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'one' } } },
          ],
        },
      },
    };
    for (let i = 0; i < 4; i++) await pod(`one-${i}`, '100m', alone, { labels: { app: 'one' } });
    const left = await scene.until<StoredPod, StoredPod>('pods', 'one is refused', (pods) =>
      pods.find(({ status }) => status.conditions?.some(({ reason }) => reason === 'Unschedulable')),
    );
    const [condition] = left.status.conditions ?? [];
    assert.ok(left.metadata.generation !== undefined);
    assert.equal(condition?.observedGeneration, left.metadata.generation);
    assert.match(
      condition?.message ?? '',
      /^0\/3 nodes are available: 3 node\(s\) didn't match pod anti-affinity rules\. preemption: /,
    );
  });

  it('loses and doubles nothing when two of it work at once and one is stopped in the middle', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => node(`n${i}`, '20')));
    const first = await scene.run(['scheduler']);
    await scene.run(['scheduler']);
    const all = 120;
    const created = Promise.all(Array.from({ length: all }, (_, i) => pod(`p${i}`, '1')));
    await scene.until<StoredPod, true>('pods', 'some are placed', (pods) =>
      pods.filter(({ spec }) => spec.nodeName).length > 20 ? true : undefined,
    );
    await first.stop();
    await created;
    await scene.until<StoredPod, true>('pods', 'all are placed', (pods) =>
      pods.length === all && pods.every(({ spec }) => spec.nodeName) ? true : undefined,
    );
    assert.deepEqual(scene.logged, []);
    const events = await scene.until<StoredEvent, readonly StoredEvent[]>('events', 'all events', (found) => {
      const scheduled = found.filter(({ reason }) => reason === 'Scheduled');
      return scheduled.length >= all ? scheduled : undefined;
    });
    const names = new Set(events.map(({ involvedObject }) => involvedObject.name));
    assert.deepEqual([events.length, names.size], [all, all], 'one binding for each pod');
  });
});
