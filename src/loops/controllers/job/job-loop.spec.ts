import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { JobSpec } from '../../../objects/apis/batch/v1/job.types.js';
import type { DeepPartial } from '../frame/loop-client.js';
import type { JobPod } from './job-pod.js';
import { conditions, container, hasCondition, indexKey, indexOf, Jobs, tracking } from './testing/jobs.js';

describe('the job loop', () => {
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

  it('runs one pod after the other to the wanted number of completions', async () => {
    const made = await jobs.create('series', { completions: 2 });
    const [first] = await jobs.active('series', 1);
    assert.ok(first);
    assert.match(first.metadata.name ?? '', /^series-[a-z0-9]{5}$/);
    const { uid } = made.metadata;
    assert.deepEqual(first.metadata.ownerReferences, [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'series', uid, controller: true, blockOwnerDeletion: true },
    ]);
    assert.deepEqual(first.metadata.finalizers, [tracking]);
    assert.equal(first.metadata.labels?.['batch.kubernetes.io/job-name'], 'series');
    assert.equal(first.metadata.labels?.['job-name'], 'series');
    assert.equal(first.metadata.labels?.['batch.kubernetes.io/controller-uid'], uid);
    const begun = await jobs.until('series', 'active', ({ status }) => status.active === 1);
    assert.ok(begun.status.startTime);
    assert.deepEqual(begun.status.uncountedTerminatedPods, {});
    await jobs.node.ready(first.metadata.name ?? '');
    await jobs.until('series', 'ready', ({ status }) => status.ready === 1);
    await jobs.node.finish(first.metadata.name ?? '');
    const [second] = await jobs.active('series', 1);
    assert.ok(second);
    await jobs.until('series', 'one success', ({ status }) => status.succeeded === 1 && status.active === 1);
    await jobs.node.finish(second.metadata.name ?? '');
    const job = await jobs.ended('series', 'Complete');
    assert.deepEqual(conditions(job), [
      'SuccessCriteriaMet=True CompletionsReached: Reached expected number of succeeded pods',
      'Complete=True CompletionsReached: Reached expected number of succeeded pods',
    ]);
    assert.equal(job.status.succeeded, 2);
    assert.equal(job.status.failed, undefined);
    assert.ok(job.status.completionTime);
    assert.equal((await jobs.events('series', 'Completed')).message, 'Job completed');
    const mode = { completion_mode: 'NonIndexed' };
    const result = 'succeeded';
    assert.equal(await scene.counted('job_controller_job_pods_finished_total', { ...mode, result }), 2);
    const finished = { ...mode, result, reason: 'CompletionsReached' };
    assert.equal(await scene.counted('job_controller_jobs_finished_total', finished), 1);
    const created = { reason: 'new', status: 'succeeded' };
    assert.equal(await scene.counted('job_controller_job_pods_creation_total', created), 2);
    const syncs = { ...mode, result: 'success', action: 'pods_created' };
    assert.equal(await scene.counted('job_controller_job_syncs_total', syncs), 2);
    assert.match((await jobs.events('series', 'SuccessfulCreate')).message ?? '', /^Created pod: series-/);
  });

  it('runs as many pods at once as parallelism says, and follows its changes', async () => {
    await jobs.create('wide', { completions: 5, parallelism: 3 });
    await jobs.active('wide', 3);
    await jobs.change('wide', ({ spec }) => {
      spec.parallelism = 1;
    });
    await jobs.active('wide', 1);
    const fewer = await jobs.until('wide', 'one active', ({ status }) => status.active === 1);
    assert.equal(fewer.status.failed, undefined, 'pods that the job removes have not failed');
    await jobs.change('wide', ({ spec }) => {
      spec.parallelism = 9;
    });
    const pods = await jobs.active('wide', 5);
    await Promise.all(pods.map((pod) => jobs.exit(pod, 0)));
    const { status } = await jobs.ended('wide', 'Complete');
    assert.equal(status.succeeded, 5);
  });

  it('without completions, lets the other pods finish after the first success', async () => {
    await jobs.create('queue', { parallelism: 3 });
    const [a, b, c] = await jobs.active('queue', 3);
    await jobs.exit(a as JobPod, 0);
    await jobs.until('queue', 'one success', ({ status }) => status.succeeded === 1 && status.active === 2);
    await jobs.exit(b as JobPod, 1);
    await jobs.until('queue', 'one failure', ({ status }) => status.failed === 1 && status.active === 1);
    assert.equal((await jobs.pods('queue')).length, 3);
    await jobs.exit(c as JobPod, 0);
    const { status } = await jobs.ended('queue', 'Complete');
    assert.equal(status.succeeded, 2);
  });

  it('is complete at once when nothing is wanted', async () => {
    await jobs.create('nothing', { completions: 0 });
    await jobs.ended('nothing', 'Complete');
    assert.equal((await jobs.pods('nothing')).length, 0);
  });

  it('gives the pods of an indexed job their index', async () => {
    await jobs.create('indexed', { completionMode: 'Indexed', completions: 4, parallelism: 4 });
    const pods = await jobs.active('indexed', 4);
    assert.deepEqual(pods.map(indexOf), [0, 1, 2, 3]);
    const third = pods[2] as JobPod;
    assert.match(third.metadata.name ?? '', /^indexed-2-[a-z0-9]{5}$/);
    assert.equal(third.metadata.labels?.[indexKey], '2');
    assert.equal(third.spec.hostname, 'indexed-2');
    assert.deepEqual(third.spec.containers?.[0]?.env, [
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexKey}']` } },
      },
    ]);
    await jobs.exit(pods[3] as JobPod, 0);
    await jobs.until('indexed', 'the last', ({ status }) => status.completedIndexes === '3');
    await jobs.exit(pods[0] as JobPod, 0);
    await jobs.exit(pods[1] as JobPod, 0);
    await jobs.until('indexed', 'three', ({ status }) => status.completedIndexes === '0,1,3');
    await jobs.exit(third, 0);
    const { status } = await jobs.ended('indexed', 'Complete');
    assert.equal(status.completedIndexes, '0-3');
    assert.equal(status.succeeded, 4);
  });

  it('lets an indexed job grow and shrink', async () => {
    await jobs.create('elastic', { completionMode: 'Indexed', completions: 2, parallelism: 2 });
    await jobs.active('elastic', 2);
    await jobs.change('elastic', ({ spec }) => Object.assign(spec, { completions: 3, parallelism: 3 }));
    const grown = await jobs.active('elastic', 3);
    await jobs.exit(grown[2] as JobPod, 0);
    await jobs.until('elastic', 'the last', ({ status }) => status.completedIndexes === '2');
    await jobs.change('elastic', ({ spec }) => Object.assign(spec, { completions: 1, parallelism: 1 }));
    const [left] = await jobs.active('elastic', 1);
    assert.equal(indexOf(left as JobPod), 0);
    await jobs.until('elastic', 'fewer indexes', ({ status }) => status.completedIndexes === undefined);
    await jobs.exit(left as JobPod, 0);
    const { status } = await jobs.ended('elastic', 'Complete');
    assert.equal(status.completedIndexes, '0');
    assert.equal(status.succeeded, 1);
  });

  it('makes no pods while suspended, ends those it has, and starts anew', async () => {
    await jobs.create('asleep', { suspend: true, parallelism: 2, completions: 2 });
    const asleep = await jobs.until('asleep', 'suspended', (job) => hasCondition(job, 'Suspended'));
    assert.equal(asleep.status.startTime, undefined);
    assert.deepEqual(conditions(asleep), ['Suspended=True JobSuspended: Job suspended']);
    assert.equal((await jobs.pods('asleep')).length, 0);
    await jobs.change('asleep', ({ spec }) => {
      spec.suspend = false;
    });
    await jobs.active('asleep', 2);
    const awake = await jobs.until('asleep', 'resumed', (job) => hasCondition(job, 'Suspended', 'False'));
    assert.ok(awake.status.startTime);
    await jobs.change('asleep', ({ spec }) => {
      spec.suspend = true;
    });
    await jobs.active('asleep', 0);
    const again = await jobs.until('asleep', 'suspended', (job) => hasCondition(job, 'Suspended'));
    assert.equal(again.status.startTime, undefined);
    assert.equal(again.status.failed, undefined);
    assert.equal((await jobs.events('asleep', 'Resumed')).message, 'Job resumed');
    assert.equal((await jobs.events('asleep', 'Suspended')).message, 'Job suspended');
  });

  it('leaves jobs alone that somebody else runs', async () => {
    await jobs.create('foreign', { managedBy: 'example.com/other' });
    await jobs.create('after-foreign');
    await jobs.active('after-foreign', 1);
    assert.equal((await jobs.pods('foreign')).length, 0);
    assert.equal((await jobs.get('foreign')).status.startTime, undefined);
  });

  it('counts a deleted pod as failed and replaces it', async () => {
    await jobs.create('deleted-pod', { backoffLimit: 0 });
    const [pod] = await jobs.active('deleted-pod', 1);
    await scene.delete('pods', 'default', pod?.metadata.name ?? '');
    const job = await jobs.ended('deleted-pod', 'Failed');
    assert.equal(job.status.failed, 1);
  });

  it('replaces a pod only after its end, if asked to', async () => {
    await jobs.create('patient', { podReplacementPolicy: 'Failed' });
    const [pod] = await jobs.active('patient', 1);
    const name = pod?.metadata.name ?? '';
    await jobs.node.bind(name, 'n');
    await scene.delete('pods', 'default', name);
    const waiting = await jobs.until('patient', 'terminating', ({ status }) => status.terminating === 1);
    assert.equal(waiting.status.failed, undefined);
    assert.equal((await jobs.pods('patient')).length, 1);
    await jobs.node.finish(name, 'Succeeded');
    const { status } = await jobs.ended('patient', 'Complete');
    assert.equal(status.succeeded, 1);
  });

  it('adopts pods that it selects, and frees those that it does not select any more', async () => {
    const selector = { matchLabels: { app: 'manual' } };
    const spec = { restartPolicy: 'Never', containers: [container] };
    await scene.create<JobPod>('pods', {
      metadata: { name: 'lonely', namespace: 'default', labels: { app: 'manual' } },
      spec: { ...spec, restartPolicy: 'Never' },
    });
    await jobs.create('manual', {
      manualSelector: true,
      selector,
      template: { metadata: { labels: { app: 'manual' } }, spec },
    } as DeepPartial<JobSpec>);
    const [adopted] = await jobs.untilPods('manual', 'adopted', (pods) => pods.length === 1);
    assert.equal(adopted?.metadata.name, 'lonely');
    assert.ok(adopted?.metadata.finalizers?.includes(tracking));
    await scene.update<JobPod>('pods', 'default', 'lonely', ({ metadata }) => {
      metadata.labels = { app: 'x' };
    });
    const [other] = await jobs.untilPods(
      'manual',
      'another',
      (pods) => pods.length === 1 && pods[0]?.metadata.name !== 'lonely',
    );
    const free = await scene.get<JobPod>('pods', 'default', 'lonely');
    assert.equal(free.metadata.ownerReferences, undefined);
    assert.equal(free.metadata.finalizers, undefined);
    await jobs.exit(other as JobPod, 0);
    await jobs.ended('manual', 'Complete');
  });

  it('frees the pods of a job that is gone', async () => {
    await jobs.create('gone');
    const [pod] = await jobs.active('gone', 1);
    await scene.delete('jobs.batch', 'default', 'gone', { propagationPolicy: 'Background' });
    await jobs.untilPods('gone', 'freed', ([only]) => only?.metadata.finalizers === undefined);
    await scene.delete('pods', 'default', pod?.metadata.name ?? '');
    await jobs.untilPods('gone', 'none', (pods) => pods.length === 0);
  });

  it('reports pods that cannot be made', async () => {
    // The host name of the pod with the index 10 would be a character too long.
    const name = 'n'.repeat(61);
    await jobs.create(name, { completionMode: 'Indexed', completions: 10, parallelism: 10 });
    await jobs.active(name, 10);
    await jobs.change(name, ({ spec }) => Object.assign(spec, { completions: 11, parallelism: 11 }));
    const event = await jobs.events(name, 'FailedCreate');
    assert.equal(event.type, 'Warning');
    assert.match(event.message ?? '', /^Error creating: .*hostname/);
    await jobs.until(name, 'begun', ({ status }) => status.startTime !== undefined);
  });
});
