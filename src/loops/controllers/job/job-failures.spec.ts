import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { JobSpec } from '../../../objects/apis/batch/v1/job.types.js';
import type { DeepPartial } from '../frame/loop-client.js';
import type { JobPod } from './job-pod.js';
import { conditions, container, hasCondition, Jobs, tracking } from './testing/jobs.js';

describe('the job loop about failures and successes', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;
  let jobs: Jobs;

  before(async () => {
    postgres = await startTestPostgres();
    scene = await LoopScene.start({ postgres });
    jobs = new Jobs(scene);
    await scene.run(['job']);
  });
  after(async () => {
    await scene?.end();
    await postgres?.stop();
  });

  it('gives up after too many failures', async () => {
    await jobs.create('failing', { backoffLimit: 0, parallelism: 2, completions: 2 });
    const [one] = await jobs.active('failing', 2);
    await jobs.exit(one as JobPod, 1);
    const job = await jobs.ended('failing', 'Failed');
    const text = 'BackoffLimitExceeded: Job has reached the specified backoff limit';
    assert.deepEqual(conditions(job), [`FailureTarget=True ${text}`, `Failed=True ${text}`]);
    assert.equal(job.status.failed, 2, 'the pod that was ended counts as well');
    assert.equal(job.status.completionTime, undefined);
    const event = await jobs.events('failing', 'BackoffLimitExceeded');
    assert.equal(event.type, 'Warning');
  });

  it('counts restarts in place', async () => {
    const spec = { restartPolicy: 'OnFailure', containers: [container] };
    await jobs.create('restarting', { backoffLimit: 2, template: { spec } } as DeepPartial<JobSpec>);
    const [pod] = await jobs.active('restarting', 1);
    const restarted = (restartCount: number) =>
      scene.update<JobPod>(
        'pods',
        'default',
        pod?.metadata.name ?? '',
        ({ status }) => {
          status.phase = 'Running';
          status.containerStatuses = [
            { name: 'c', image: 'i', imageID: '', ready: true, restartCount, state: {}, lastState: {} },
          ];
        },
        'status',
      );
    await restarted(1);
    await restarted(2);
    const job = await jobs.ended('restarting', 'Failed');
    assert.match(conditions(job)[1] ?? '', /BackoffLimitExceeded/);
  });

  it('fails as a whole when a rule says so', async () => {
    await jobs.create('fatal', {
      parallelism: 2,
      completions: 2,
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
    });
    const [one] = await jobs.active('fatal', 2);
    await jobs.exit(one as JobPod, 42);
    const job = await jobs.ended('fatal', 'Failed');
    assert.deepEqual(conditions(job).slice(0, 1), [
      `FailureTarget=True PodFailurePolicy: Container c for pod default/${one?.metadata.name} failed with exit code 42 matching FailJob rule at index 0`,
    ]);
  });

  it('ignores failures that a rule ignores, such as disruptions', async () => {
    await jobs.create('disrupted', {
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      },
    });
    const [one] = await jobs.active('disrupted', 1);
    const disrupted = {
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: null,
    } as const;
    const longAgo = '2020-01-01T00:00:00Z';
    await jobs.exit(one as JobPod, 137, {
      conditions: [disrupted, { type: 'Ready', status: 'False', lastProbeTime: null, lastTransitionTime: longAgo }],
    });
    await jobs.until('disrupted', 'nothing counted', ({ status }) => (status.active ?? 0) === 0);
    const freed = await jobs.untilPods('disrupted', 'freed', (pods) =>
      pods.some(({ status, metadata }) => status.phase === 'Failed' && !metadata.finalizers?.includes(tracking)),
    );
    assert.equal(freed.length, 1);
    const job = await jobs.get('disrupted');
    assert.equal(job.status.failed, undefined);
    assert.ok(!hasCondition(job, 'FailureTarget'));
  });

  it('is done early when a rule of success is fulfilled', async () => {
    await jobs.create('early', {
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      successPolicy: { rules: [{ succeededIndexes: '3', succeededCount: 1 }, { succeededCount: 3 }] },
    });
    const pods = await jobs.active('early', 4);
    await jobs.exit(pods[3] as JobPod, 0);
    const job = await jobs.ended('early', 'Complete');
    assert.deepEqual(conditions(job), [
      'SuccessCriteriaMet=True SuccessPolicy: Matched rules at index 0',
      'Complete=True SuccessPolicy: Matched rules at index 0',
    ]);
    assert.equal(job.status.succeeded, 1);
    assert.equal(job.status.failed, undefined, 'pods that are not needed any more have not failed');
  });

  it('is not complete before its last pod has ended', async () => {
    await jobs.create('slow-end', {
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      successPolicy: { rules: [{ succeededCount: 1 }] },
    });
    const [one, two] = await jobs.active('slow-end', 2);
    await jobs.node.bind(two?.metadata.name ?? '', 'n');
    await jobs.exit(one as JobPod, 0);
    const waiting = await jobs.until('slow-end', 'waits', ({ status }) => status.terminating === 1);
    assert.ok(hasCondition(waiting, 'SuccessCriteriaMet'));
    assert.ok(!hasCondition(waiting, 'Complete'));
    await jobs.node.remove(two?.metadata.name ?? '');
    await jobs.ended('slow-end', 'Complete');
  });

  it('fails single indexes, and then as a whole', async () => {
    await jobs.create('per-index', {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      backoffLimitPerIndex: 0,
    });
    const [a, b, c] = await jobs.active('per-index', 3);
    assert.equal(a?.metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '0');
    await jobs.exit(a as JobPod, 1);
    await jobs.until('per-index', 'first failed', ({ status }) => status.failedIndexes === '0');
    await jobs.exit(b as JobPod, 0);
    await jobs.exit(c as JobPod, 0);
    const job = await jobs.ended('per-index', 'Failed');
    assert.deepEqual(conditions(job).slice(1), ['Failed=True FailedIndexes: Job has failed indexes']);
    assert.equal(job.status.completedIndexes, '1,2');
    assert.equal(job.status.failedIndexes, '0');
    assert.equal(job.status.failed, 1);
  });

  it('gives up after too many failed indexes, also those that a rule fails', async () => {
    await jobs.create('many-failed', {
      completionMode: 'Indexed',
      completions: 5,
      parallelism: 5,
      backoffLimitPerIndex: 3,
      maxFailedIndexes: 1,
      podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'NotIn', values: [9] } }] },
    });
    const pods = await jobs.active('many-failed', 5);
    await jobs.exit(pods[1] as JobPod, 7);
    await jobs.until('many-failed', 'one', ({ status }) => status.failedIndexes === '1');
    await jobs.exit(pods[4] as JobPod, 7);
    const job = await jobs.ended('many-failed', 'Failed');
    assert.match(conditions(job)[1] ?? '', /MaxFailedIndexesExceeded: Job has exceeded the specified maximal number/);
    assert.equal(job.status.failedIndexes, '1,4');
  });
});
