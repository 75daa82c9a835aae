import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { CreationBudget } from './creation-budget.js';
import { CreationMetrics } from './creation-metrics.js';
import { ReconcileContext, serverUser } from './reconcile-context.js';
import { WriteLimiter } from './write-limiter.js';

const kibibyte = 1024;

function setUp() {
  const timers = new ManualTimers();
  const registry = new Registry();
  const limits = { objectsPerSecond: 10, bytesPerSecond: 1000 };
  const warned: string[] = [];
  const limiter = new WriteLimiter(
    {
      timers,
      budget: new CreationBudget(limits, timers, new CreationMetrics(registry)),
      warn: ({ metadata }, reason, message) => warned.push(`${metadata.name}: ${reason}: ${message}`),
    },
    256 * kibibyte,
  );
  let resting = 0;
  const work = new ReconcileContext(serverUser, 'tester', 0, new AbortController().signal, async (wait) => {
    resting += 1;
    try {
      return await wait();
    } finally {
      resting -= 1;
    }
  });
  const pass = async (milliseconds: number) => {
    timers.advance(milliseconds);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  };
  return { limiter, work, warned, registry, pass, resting: () => resting };
}

const owner: ApiObject = {
  kind: 'ReplicaSet',
  apiVersion: 'apps/v1',
  metadata: { name: 'r', namespace: 'a', uid: 'u' },
};

describe('WriteLimiter', () => {
  it('says on whose behalf objects wait, once, and counts them', async () => {
    const { limiter, work, warned, registry, pass, resting } = setUp();
    const plan = { namespace: 'a', size: 5000, owner };
    let made = 0;
    for (let i = 0; i < 10; i++) void limiter.untilAffordable(work, plan).then(() => made++);
    await pass(0);
    assert.equal(made, 2, 'the burst');
    assert.equal(resting(), 8, 'work that waits takes no worker');
    assert.deepEqual(warned, [
      'r: CreationDelayed: Objects wait to be created, the next one for 5 s: control loops create at most 1000 bytes a second in the namespace a',
    ]);
    assert.match(await registry.metrics(), /plinth_loop_creations_waiting\{limit="bytes"\} 8/);
    for (let i = 0; i < 8; i++) await pass(5_000);
    assert.equal(made, 10);
    assert.equal(resting(), 0);
    const text = await registry.metrics();
    assert.match(text, /plinth_loop_creations_waiting\{limit="bytes"\} 0/);
    assert.match(text, /plinth_loop_creation_wait_seconds_total\{limit="bytes"\} 180/);
  });

  it('lets changes of large objects wait for a budget of their own, and small ones never', async () => {
    const { limiter, work, warned, pass, resting } = setUp();
    const large = { ...owner, metadata: { ...owner.metadata, name: 'endpoints' } };
    let changed = 0;
    for (let i = 0; i < 3; i++) void limiter.untilChangeable(work, large, 10_000).then(() => changed++);
    for (let i = 0; i < 500; i++) await limiter.untilChangeable(work, owner, 5_000);
    await limiter.untilAffordable(work, { namespace: 'a', size: 5_000, owner });
    await pass(0);
    assert.equal(changed, 1, 'the burst');
    assert.equal(resting(), 2);
    assert.deepEqual(warned, [
      'endpoints: ChangeDelayed: Changes of large objects wait, the next one for 10 s: control loops change at most 1000 bytes a second in the namespace a',
    ]);
    await pass(10_000);
    assert.equal(changed, 2);
    await limiter.untilChangeable(work, { ...large, metadata: { ...large.metadata, namespace: 'b' } }, 10_000);
    await pass(10_000);
    assert.equal(changed, 3);
  });

  it('says nothing of short waits', async () => {
    const { limiter, work, warned, pass } = setUp();
    for (let i = 0; i < 110; i++) void limiter.untilAffordable(work, { namespace: 'a', size: 1, owner });
    await pass(2_000);
    assert.deepEqual(warned, []);
  });

  it('bounds the text of the large objects that are written at one time', async () => {
    const { limiter, work, pass, resting } = setUp();
    let under = 0;
    const ends: (() => void)[] = [];
    const write = () => {
      under += 1;
      return new Promise<void>((resolve) => ends.push(resolve)).finally(() => {
        under -= 1;
      });
    };
    for (let i = 0; i < 5; i++) void limiter.inMemory(work, { namespace: 'a', size: 100 * kibibyte }, write);
    void limiter.inMemory(work, { namespace: 'b', size: 100 * kibibyte }, write);
    void limiter.inMemory(work, { namespace: 'a', size: kibibyte }, write);
    await pass(0);
    assert.equal(under, 3, 'two large ones and the small one');
    assert.equal(resting(), 4);
    while (ends.length > 0) {
      assert.ok(under <= 3);
      ends.shift()?.();
      await pass(0);
    }
    assert.equal(under, 0);
    assert.equal(resting(), 0);
  });
});
