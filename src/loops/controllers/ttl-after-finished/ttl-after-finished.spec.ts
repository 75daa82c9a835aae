import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { Job } from '../../../objects/apis/batch/v1/job.types.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { timeLeft } from './time-left.js';

type StoredJob = Job & ApiObject;

const start = Date.parse('2030-01-01T00:00:00Z');
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };

describe('TtlAfterFinishedController', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  it('deletes finished jobs when their time is over, with two loops, and after a change of the time', async () => {
    const timers = new ManualTimers(start);
    const scene = await LoopScene.start({ postgres, timers });
    const job = async (name: string, ttlSecondsAfterFinished: number | undefined, condition?: string) => {
      const spec = { template, ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) };
      await scene.create<StoredJob>('jobs.batch', { metadata: { name, namespace: 'default' }, spec } as never);
      if (condition !== undefined) await finish(name, condition);
    };
    const finish = (name: string, type: string) => {
      const time = formatTime(timers.now());
      const before = { Complete: ['SuccessCriteriaMet'], Failed: ['FailureTarget'] }[type] ?? [];
      const times = { lastProbeTime: time, lastTransitionTime: time };
      const conditions = [...before, type].map((one) => ({ type: one, status: 'True', ...times }));
      const ended = { startTime: time, ...(type === 'Complete' ? { completionTime: time } : {}) };
      const write = (live: StoredJob) =>
        Object.assign(live.status, { conditions, ...(before.length > 0 ? ended : {}) });
      return scene.update<StoredJob>('jobs.batch', 'default', name, write, 'status');
    };
    const untilJobs = (...names: string[]) =>
      scene.until('jobs.batch', `exactly ${names.join(', ')}`, (jobs) => {
        const live = jobs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        const found = live.map(({ metadata }) => metadata.name).sort();
        return JSON.stringify(found) === JSON.stringify(names.sort());
      });
    try {
      await job('at-once', 0, 'Complete');
      await job('soon', 100, 'Failed');
      await job('longer', 100, 'Complete');
      await job('kept', undefined, 'Complete');
      await job('suspended', 0, 'Suspended');
      await job('running', 5);
      await Promise.all([scene.run(['ttl-after-finished']), scene.run(['ttl-after-finished'])]);
      await untilJobs('soon', 'longer', 'kept', 'suspended', 'running');
      const gone = await scene.get('jobs.batch', 'default', 'at-once');
      assert.deepEqual(gone.metadata.finalizers, ['foregroundDeletion']);
      const extend = (live: StoredJob) => Object.assign(live.spec, { ttlSecondsAfterFinished: 200 });
      await scene.update<StoredJob>('jobs.batch', 'default', 'longer', extend);
      await scene.pass(99_999);
      await finish('running', 'Complete');
      await untilJobs('soon', 'longer', 'kept', 'suspended', 'running');
      await scene.pass(1);
      await untilJobs('longer', 'kept', 'suspended', 'running');
      await timers.waiting((ms) => ms >= 4_000 && ms <= 5_000);
      await scene.pass(5_000);
      await untilJobs('longer', 'kept', 'suspended');
      await scene.pass(100_000);
      await untilJobs('kept', 'suspended');
      assert.deepEqual(scene.logged, []);
    } finally {
      await scene.end();
    }
  });

  it('knows how much time is left', () => {
    const ended = '2030-01-01T00:00:00Z';
    const finished = { type: 'Complete', status: 'True', lastTransitionTime: ended };
    const left = (ttl: number | undefined, condition: object, now: number) =>
      timeLeft({ spec: { ttlSecondsAfterFinished: ttl }, status: { conditions: [condition] } } as never, start + now);
    assert.equal(left(10, finished, 0), 10_000);
    assert.equal(left(10, finished, 9_000), 1_000);
    assert.equal(left(10, finished, 11_000), 0);
    assert.equal(left(0, finished, 0), 0);
    assert.equal(left(undefined, finished, 0), undefined);
    assert.equal(left(10, { ...finished, status: 'False' }, 0), undefined);
    assert.equal(left(10, { ...finished, type: 'FailureTarget' }, 0), undefined);
    assert.equal(left(10, { ...finished, lastTransitionTime: undefined }, 0), undefined);
  });
});
