import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../../test/e2e/support/test-cluster.js';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { StoredPod } from '../frame/indexes.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { surplusPods } from './doomed-pods.js';
import { missingNodes } from './missing-nodes.js';

const hold = 'example.com/hold';
const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };

describe('PodGcController', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
  });
  afterEach(() => scene?.end());

  const node = (name: string, ready: 'True' | 'False', taints: (typeof outOfService)[] = []) =>
    scene.create('nodes', { metadata: { name }, spec: { taints }, status: { conditions: [readyIs(ready)] } });
  const readyIs = (status: string) => ({ type: 'Ready', status });

  async function pod(name: string, nodeName = '', phase = 'Running', finalizers: string[] = []): Promise<void> {
    const spec = { nodeName, containers: [{ name: 'c', image: 'i' }] };
    await scene.create<StoredPod>('pods', { metadata: { name, namespace: 'default', finalizers }, spec } as never);
    await setPhase(name, phase);
  }

  const setPhase = (name: string, phase: string, reason?: string) =>
    scene.update<StoredPod>(
      'pods',
      'default',
      name,
      ({ status }) => Object.assign(status, { phase }, reason === undefined ? {} : { reason }),
      'status',
    );
  const untilPods = (...names: string[]) =>
    scene.until('pods', `exactly ${names.join(', ')}`, (pods) => {
      const found = pods.map(({ metadata }) => metadata.name).sort();
      return JSON.stringify(found) === JSON.stringify(names.sort());
    });

  it('removes pods of nodes that are gone, after a while, as failed', async () => {
    const timers = new ManualTimers(Date.now());
    await node('here', 'True');
    await node('leaving', 'True');
    await pod('kept', 'here');
    await pod('lost', 'nowhere', 'Running', [hold]);
    await pod('left', 'leaving');
    await pod('done', 'nowhere', 'Succeeded', [hold]);
    await pod('unscheduled');
    await scene.run(['podgc'], timers);
    await timers.waiting((ms) => ms === 40_000);
    await scene.pass(30_000, timers);
    await scene.delete('nodes', '', 'leaving');
    await scene.pass(9_999, timers);
    assert.ok((await scene.find<StoredPod>('pods', 'default', 'lost'))?.metadata.deletionTimestamp === undefined);
    await scene.pass(1, timers);
    const gone = await scene.until<StoredPod, StoredPod>('pods', 'lost is being deleted', (pods) =>
      pods.find(({ metadata }) => metadata.name === 'lost' && metadata.deletionTimestamp !== undefined),
    );
    assert.equal(gone.status.phase, 'Failed');
    const [condition] = (gone.status.conditions ?? []).filter(({ type }) => type === 'DisruptionTarget');
    assert.equal(condition?.status, 'True');
    assert.equal(condition?.reason, 'DeletionByPodGC');
    assert.equal(condition?.message, 'PodGC: node no longer exists');
    assert.equal(condition?.observedGeneration, 1);
    const done = await scene.until<StoredPod, StoredPod>('pods', 'done is being deleted', (pods) =>
      pods.find(({ metadata }) => metadata.name === 'done' && metadata.deletionTimestamp !== undefined),
    );
    assert.equal(done.status.phase, 'Succeeded');
    assert.ok(await scene.find('pods', 'default', 'left'));
    for (const name of ['lost', 'done']) {
      await scene.update('pods', 'default', name, ({ metadata }) => (metadata.finalizers = []));
    }
    await untilPods('kept', 'left', 'unscheduled');
    await scene.pass(40_000, timers);
    await untilPods('kept', 'unscheduled');
  });

  it('keeps pods of a node that comes back in time', async () => {
    const timers = new ManualTimers(Date.now());
    await pod('a', 'late');
    await pod('b', 'nowhere');
    await scene.run(['podgc'], timers);
    await timers.waiting((ms) => ms === 40_000);
    await node('late', 'True');
    await scene.pass(40_000, timers);
    await untilPods('a');
  });

  it('goes on with the time that others have waited for a node', async () => {
    const timers = new ManualTimers(Date.now());
    await pod('lost', 'nowhere');
    await pod('back', 'late');
    const untilNotes = (...names: string[]) =>
      eventually(async () => {
        const { items } = await scene.storage.list({ resource: missingNodes });
        return items.map(({ key }) => key.name).join() === names.join() || undefined;
      }, `notes of ${names.join()}`);
    for (const leftMs of [40_000, 28_000, 16_000]) {
      const loops = await scene.run(['podgc'], timers);
      await timers.waiting((ms) => ms === leftMs);
      await untilNotes('late', 'nowhere');
      await scene.pass(12_000, timers);
      await loops.stop();
    }
    const last = await scene.run(['podgc'], timers);
    await timers.waiting((ms) => ms === 5000);
    assert.ok(await scene.find('pods', 'default', 'lost'));
    await node('late', 'True');
    await untilNotes('nowhere');
    await scene.pass(5000, timers);
    await untilPods('back');
    await untilNotes();
    await last.stop();
  });

  it('removes deleted pods without a node, and those on nodes that are out of service', async () => {
    await node('off', 'False', [outOfService]);
    await node('shaky', 'False');
    await node('fine', 'True', [outOfService]);
    for (const name of ['off', 'shaky', 'fine']) await pod(`on-${name}`, name);
    await pod('alive-on-off', 'off');
    await pod('unscheduled', '', 'Pending', [hold]);
    await pod('waiting', '', 'Pending');
    await scene.run(['podgc']);
    for (const name of ['on-off', 'on-shaky', 'on-fine', 'unscheduled']) await scene.delete('pods', 'default', name);
    await scene.until<StoredPod, boolean>('pods', 'the unscheduled one failed', (pods) =>
      pods.some(({ metadata, status }) => metadata.name === 'unscheduled' && status.phase === 'Failed'),
    );
    await scene.update('pods', 'default', 'unscheduled', ({ metadata }) => (metadata.finalizers = []));
    await untilPods('alive-on-off', 'on-fine', 'on-shaky', 'waiting');
    await scene.update('nodes', '', 'shaky', (live) => Object.assign(live.spec as object, { taints: [outOfService] }));
    await untilPods('alive-on-off', 'on-fine', 'waiting');
  });

  it('keeps so many finished pods, two loops at once as well', async () => {
    await node('n', 'True');
    await pod('running', 'n');
    for (let i = 0; i < 6; i++) await pod(`done-${i}`, 'n', i % 2 === 0 ? 'Succeeded' : 'Failed');
    await setPhase('done-5', 'Failed', 'Evicted');
    const settings = { terminatedPodThreshold: 3 };
    await Promise.all([1, 2].map(() => scene.run(['podgc'], scene.timers, undefined, settings)));
    await untilPods('running', 'done-2', 'done-3', 'done-4');
    await pod('done-6', 'n', 'Failed');
    await untilPods('running', 'done-3', 'done-4', 'done-6');
    assert.deepEqual(scene.logged, []);
  });

  it('picks evicted pods first, then the oldest', () => {
    const finished = (name: string, created: number, reason?: string) =>
      ({
        metadata: { name, creationTimestamp: new Date(created * 1000).toISOString() },
        status: { phase: 'Failed', reason },
      }) as unknown as StoredPod;
    const pods = [finished('b', 2), finished('a', 2), finished('new', 9, 'Evicted'), finished('old', 1)];
    const namesOf = (threshold: number) => surplusPods(pods, threshold).map(({ metadata }) => metadata.name);
    assert.deepEqual(namesOf(0), []);
    assert.deepEqual(namesOf(-1), []);
    assert.deepEqual(namesOf(4), []);
    assert.deepEqual(namesOf(3), ['new']);
    assert.deepEqual(namesOf(1), ['new', 'old', 'a']);
  });
});
