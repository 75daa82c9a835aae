import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { JobPod } from './job-pod.js';
import { conditions, hasCondition, indexOf, Jobs } from './testing/jobs.js';

describe('the job loop over hours', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;
  let jobs: Jobs;
  let timers: ManualTimers;

  before(async () => {
    postgres = await startTestPostgres();
    timers = new ManualTimers();
    scene = await LoopScene.start({ postgres, timers });
    jobs = new Jobs(scene);
    await scene.run(['job']);
  });
  after(async () => {
    await scene?.end();
    await postgres?.stop();
  });

  it('waits longer after each failure, up to the limit', async () => {
    await jobs.create('retry', { backoffLimit: 2 });
    for (const [failures, pauseMs] of [10_000, 20_000].entries()) {
      const [pod] = await jobs.active('retry', 1);
      await jobs.exit(pod as JobPod, 1);
      await jobs.until('retry', 'counted', ({ status }) => status.failed === failures + 1);
      await timers.waiting((milliseconds) => milliseconds > 0 && milliseconds <= pauseMs && milliseconds > pauseMs / 2);
      await scene.pass(pauseMs - 1_500);
      assert.equal((await jobs.pods('retry')).length, failures + 1);
      await scene.pass(2_000);
    }
    const [last] = await jobs.active('retry', 1);
    await jobs.exit(last as JobPod, 1);
    const job = await jobs.ended('retry', 'Failed');
    assert.equal(job.status.failed, 3);
  });

  it('ends at its deadline, which stands still while suspended', async () => {
    await jobs.create('late', { activeDeadlineSeconds: 100 });
    await jobs.active('late', 1);
    await timers.waiting((milliseconds) => milliseconds > 90_000 && milliseconds <= 100_000);
    await scene.pass(90_000);
    await jobs.change('late', ({ spec }) => {
      spec.suspend = true;
    });
    await jobs.until('late', 'suspended', (job) => hasCondition(job, 'Suspended'));
    await scene.pass(1_000_000);
    await jobs.change('late', ({ spec }) => {
      spec.suspend = false;
    });
    await jobs.until('late', 'resumed', (job) => hasCondition(job, 'Suspended', 'False'));
    await jobs.active('late', 1);
    await timers.waiting((milliseconds) => milliseconds > 90_000 && milliseconds <= 100_000);
    await scene.pass(101_000);
    const job = await jobs.ended('late', 'Failed');
    assert.match(
      conditions(job).at(-1) ?? '',
      /^Failed=True DeadlineExceeded: Job was active longer than specified deadline$/,
    );
  });

  it('waits for a month without haste', async () => {
    await jobs.create('month', { activeDeadlineSeconds: 40 * 86_400 });
    await jobs.active('month', 1);
    await scene.pass(39 * 86_400_000);
    assert.ok(!hasCondition(await jobs.get('month'), 'Failed'));
    await scene.pass(2 * 86_400_000);
    await jobs.ended('month', 'Failed');
  });

  it('makes each index wait by itself', async () => {
    await jobs.create('own-pace', {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 2,
      backoffLimitPerIndex: 2,
    });
    const [a, b] = await jobs.active('own-pace', 2);
    await jobs.exit(a as JobPod, 1);
    await jobs.exit(b as JobPod, 0);
    const [third] = await jobs.active('own-pace', 1);
    assert.equal(indexOf(third as JobPod), 2);
    await timers.waiting((milliseconds) => milliseconds > 5_000 && milliseconds <= 10_000);
    await scene.pass(11_000);
    const [again] = await jobs.active('own-pace', 2);
    assert.equal(indexOf(again as JobPod), 0);
    assert.equal(again?.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '1');
    await jobs.exit(again as JobPod, 0);
    await jobs.exit(third as JobPod, 0);
    const { status } = await jobs.ended('own-pace', 'Complete');
    assert.equal(status.completedIndexes, '0-2');
    assert.equal(status.failed, 1);
  });
});
