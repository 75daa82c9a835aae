import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { FilterName } from './filter.js';
import { type QueuedPod, SchedulingQueue } from './scheduling-queue.js';
import { type SamplePod, samplePod } from './testing/sample-cluster.js';

describe('SchedulingQueue', () => {
  let now: number;
  let queue: SchedulingQueue;
  const full: ReadonlySet<FilterName> = new Set(['NodeResourcesFit']);

  beforeEach(() => {
    now = 0;
    queue = new SchedulingQueue({ now: () => now });
  });

  const add = (name: string, rest: SamplePod = {}) => queue.set(samplePod({ name, ...rest }));
  const taken = (): string[] => {
    const names: string[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.info.name);
    return names;
  };
  const refuse = (name: string, by = full) => {
    add(name);
    queue.refused(queue.take() as QueuedPod, by);
  };

  it('gives out the most important pods first, then those that came first', () => {
    add('a');
    add('b', { priority: 5 });
    now = 10;
    add('c', { priority: 5 });
    add('d', { priority: -1 });
    assert.deepEqual(taken(), ['b', 'c', 'a', 'd']);
  });

  it('lets namespaces take turns, however many pods one of them has', () => {
    for (let i = 0; i < 100; i++) add(`crowd-${i}`, { namespace: 'crowd' });
    add('lone-a', { namespace: 'lone' });
    add('lone-b', { namespace: 'lone' });
    assert.deepEqual(taken().slice(0, 5), ['crowd-0', 'lone-a', 'crowd-1', 'lone-b', 'crowd-2']);
  });

  it('lets other namespaces go first after a decision that took long', () => {
    for (let i = 0; i < 3; i++) add(`slow-${i}`, { namespace: 'slow' });
    queue.took(100, queue.take() as QueuedPod);
    add('quick', { namespace: 'quick' });
    assert.deepEqual(taken(), ['quick']);
    assert.equal(queue.nextDueMs(), 1000);
    now = 1000;
    assert.deepEqual(taken(), ['slow-1', 'slow-2']);
  });

  it('does not give out a pod twice', () => {
    add('a');
    const first = queue.take();
    add('a', { labels: { new: 'state' } });
    assert.equal(queue.take(), undefined);
    assert.deepEqual(first?.info.labels, { new: 'state' });
  });

  it('keeps refused pods until something happens that concerns what refused them', () => {
    refuse('a');
    refuse('b', new Set(['InterPodAffinity']));
    now = 60_000;
    assert.deepEqual(taken(), []);
    queue.moveToActiveQueue(['TaintToleration']);
    assert.deepEqual(taken(), []);
    queue.moveToActiveQueue(['InterPodAffinity', 'PodTopologySpread']);
    assert.deepEqual(taken(), ['b']);
    queue.moveToActiveQueue(['NodeResourcesFit'], () => false);
    assert.deepEqual(taken(), []);
    queue.moveToActiveQueue(null);
    assert.deepEqual(taken(), ['a']);
  });

  it('doubles the pause with every attempt, from 1 to 10 seconds', () => {
    add('a');
    const pauses: number[] = [];
    for (let i = 0; i < 6; i++) {
      queue.refused(queue.take() as QueuedPod, full);
      queue.moveToActiveQueue(null);
      pauses.push(queue.nextDueMs() as number);
      now += (queue.nextDueMs() as number) - 1;
      assert.deepEqual(taken(), []);
      now += 1;
    }
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('counts the pause from the refusal', () => {
    refuse('a');
    now = 999;
    queue.moveToActiveQueue(null);
    assert.equal(queue.nextDueMs(), 1);
    now = 1000;
    assert.deepEqual(taken(), ['a']);
  });

  it('tries pods again that failed for another reason, after a pause', () => {
    add('a');
    queue.failed(queue.take() as QueuedPod);
    assert.deepEqual(taken(), []);
    now = 1000;
    assert.deepEqual(taken(), ['a']);
  });

  it('tries everything again after five minutes', () => {
    refuse('a');
    now = 299_999;
    queue.flush();
    assert.deepEqual(taken(), []);
    now = 300_000;
    queue.flush();
    assert.deepEqual(taken(), ['a']);
  });

  it('wakes a refused pod whose own change may help', () => {
    refuse('a');
    now = 2000;
    queue.set(samplePod({ name: 'a' }), false);
    assert.deepEqual(taken(), []);
    queue.set(samplePod({ name: 'a' }), true);
    assert.deepEqual(taken(), ['a']);
  });

  it('holds pods with gates', () => {
    add('a', { schedulingGates: [{ name: 'g' }] });
    queue.moveToActiveQueue(null);
    now = 400_000;
    queue.flush();
    assert.deepEqual(taken(), []);
    assert.equal(queue.depths.gated, 1);
    add('a');
    assert.deepEqual(taken(), ['a']);
  });

  it('orders by the newest priority', () => {
    add('a', { priority: 1 });
    add('b', { priority: 2 });
    add('a', { priority: 3 });
    assert.deepEqual(taken(), ['a', 'b']);
  });

  it('forgets removed pods wherever they are', () => {
    refuse('refused');
    add('paused');
    queue.failed(queue.take() as QueuedPod);
    add('waiting');
    for (const name of ['refused', 'paused', 'waiting']) queue.remove(`uid-${name}`);
    now = 400_000;
    queue.flush();
    assert.deepEqual(taken(), []);
    assert.equal(queue.size, 0);
  });

  it('keeps a pod that was removed while it was out from coming back', () => {
    add('a');
    const out = queue.take() as QueuedPod;
    queue.remove('uid-a');
    queue.refused(out, full);
    assert.equal(queue.size, 0);
  });

  it('stays in order with many pods that come and go', () => {
    const priorities = Array.from({ length: 500 }, (_, i) => (i * 7919) % 101);
    for (const [i, priority] of priorities.entries()) add(`p${i}`, { priority });
    for (let i = 0; i < 500; i += 3) queue.remove(`uid-p${i}`);
    const left = taken().map((name) => priorities[Number(name.slice(1))] as number);
    assert.deepEqual(
      left,
      left.toSorted((a, b) => b - a),
    );
    assert.equal(left.length, 333);
  });
});
