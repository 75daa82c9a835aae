import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../test/support/loop-scene.js';
import { PretendNode } from '../../../test/support/pretend-node.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import type { JobSpec } from '../../apis/batch/v1/job.types.js';
import type { Event } from '../../apis/core/v1/event.types.js';
import type { PodStatus } from '../../apis/core/v1/pod.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import type { DeepPartial } from '../frame/loop-client.js';
import { isPodActive } from '../frame/pod-state.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { JobPod, StoredJob } from './job-pod.js';

const tracking = 'batch.kubernetes.io/job-tracking';
const indexKey = 'batch.kubernetes.io/job-completion-index';
const container = { name: 'c', image: 'img:1' };

/** Jobs of one scene, and what becomes of them. */
class Jobs {
  readonly node: PretendNode;

  constructor(readonly scene: LoopScene) {
    this.node = new PretendNode(scene);
  }

  create(name: string, spec: DeepPartial<JobSpec> = {}): Promise<StoredJob> {
    const template = { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 5, containers: [container] } };
    return this.scene.create<StoredJob>('jobs.batch', {
      metadata: { name, namespace: 'default' },
      spec: { template, ...spec } as DeepPartial<JobSpec>,
    });
  }

  get(name: string): Promise<StoredJob> {
    return this.scene.get<StoredJob>('jobs.batch', 'default', name);
  }

  change(name: string, change: (live: StoredJob) => void): Promise<StoredJob> {
    return this.scene.update<StoredJob>('jobs.batch', 'default', name, change);
  }

  /** Waits for a job of this name to be so. */
  until(name: string, what: string, look: (job: StoredJob) => boolean): Promise<StoredJob> {
    return this.scene.until<StoredJob, StoredJob>('jobs.batch', `${name}: ${what}`, (all) =>
      all.find((job) => job.metadata.name === name && look(job)),
    );
  }

  /** Waits for the last condition of the job, and checks that nothing is left to do. */
  async ended(name: string, type: 'Complete' | 'Failed'): Promise<StoredJob> {
    const job = await this.until(name, type, (live) => hasCondition(live, type));
    assert.deepEqual(job.status.uncountedTerminatedPods, {});
    assert.equal(job.status.active, undefined);
    assert.equal(job.status.ready, 0);
    assert.equal(job.status.terminating, 0);
    for (const pod of await this.pods(name)) assert.ok(!pod.metadata.finalizers?.includes(tracking));
    return job;
  }

  /** The pods of the job, in the order of their indexes and names. */
  async pods(name: string): Promise<JobPod[]> {
    return this.untilPods(name, 'any', () => true);
  }

  untilPods(name: string, what: string, look: (pods: readonly JobPod[]) => boolean): Promise<JobPod[]> {
    return this.scene.until<JobPod, JobPod[]>('pods', `pods of ${name}: ${what}`, (all) => {
      const own = all.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === name).sort(byIndex);
      return look(own) && own;
    });
  }

  /** Waits until that many pods run or are to run. */
  async active(name: string, count: number): Promise<JobPod[]> {
    const pods = await this.untilPods(name, `${count} active`, (own) => own.filter(isPodActive).length === count);
    return pods.filter(isPodActive);
  }

  /** Ends a pod with an exit code. */
  async exit(pod: JobPod, exitCode: number, more: Partial<PodStatus> = {}): Promise<void> {
    await this.scene.update<JobPod>(
      'pods',
      'default',
      pod.metadata.name ?? '',
      (live) => {
        Object.assign(live.status, more);
        live.status.phase = exitCode === 0 ? 'Succeeded' : 'Failed';
        const finishedAt = new Date(this.scene.timers.now()).toISOString().replace(/\.\d+/, '');
        live.status.containerStatuses = [
          {
            name: 'c',
            image: 'img:1',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode, startedAt: finishedAt, finishedAt } },
            lastState: {},
          },
        ];
      },
      'status',
    );
  }

  events(name: string, reason: string): Promise<ApiObject & Event> {
    return this.scene.until<ApiObject & Event, ApiObject & Event>('events', `event ${reason} of ${name}`, (all) =>
      all.find((event) => event.reason === reason && event.involvedObject.name === name),
    );
  }
}

function hasCondition({ status }: StoredJob, type: string, wanted = 'True'): boolean {
  return status.conditions?.some((condition) => condition.type === type && condition.status === wanted) ?? false;
}

function conditions({ status }: StoredJob): string[] {
  return (status.conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

function indexOf({ metadata }: JobPod): number {
  return Number(metadata.annotations?.[indexKey] ?? -1);
}

function byIndex(a: JobPod, b: JobPod): number {
  return indexOf(a) - indexOf(b) || (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '');
}

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
    // The name of such a job makes no host name.
    await jobs.create('two.parts', { completionMode: 'Indexed', completions: 1, parallelism: 1 });
    const event = await jobs.events('two.parts', 'FailedCreate');
    assert.equal(event.type, 'Warning');
    assert.match(event.message ?? '', /^Error creating: .*hostname/);
    await jobs.until('two.parts', 'begun', ({ status }) => status.startTime !== undefined);
  });
});

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
      timers.advance(pauseMs - 1_500);
      assert.equal((await jobs.pods('retry')).length, failures + 1);
      timers.advance(2_000);
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
    timers.advance(90_000);
    await jobs.change('late', ({ spec }) => {
      spec.suspend = true;
    });
    await jobs.until('late', 'suspended', (job) => hasCondition(job, 'Suspended'));
    timers.advance(1_000_000);
    await jobs.change('late', ({ spec }) => {
      spec.suspend = false;
    });
    await jobs.until('late', 'resumed', (job) => hasCondition(job, 'Suspended', 'False'));
    await jobs.active('late', 1);
    await timers.waiting((milliseconds) => milliseconds > 90_000 && milliseconds <= 100_000);
    timers.advance(101_000);
    const job = await jobs.ended('late', 'Failed');
    assert.match(
      conditions(job).at(-1) ?? '',
      /^Failed=True DeadlineExceeded: Job was active longer than specified deadline$/,
    );
  });

  it('waits for a month without haste', async () => {
    await jobs.create('month', { activeDeadlineSeconds: 40 * 86_400 });
    await jobs.active('month', 1);
    timers.advance(39 * 86_400_000);
    assert.ok(!hasCondition(await jobs.get('month'), 'Failed'));
    timers.advance(2 * 86_400_000);
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
    timers.advance(11_000);
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

describe('job loops in several processes', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  it('count every pod once although two work at the same time', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const jobs = new Jobs(scene);
      await Promise.all([scene.run(['job']), scene.run(['job'])]);
      await jobs.create('fought', { completions: 30, parallelism: 10, backoffLimit: 1000 });
      const { stop, finished } = await finishEverything(scene, jobs);
      const { status } = await jobs.ended('fought', 'Complete');
      stop();
      assert.equal(status.succeeded, finished.size);
      assert.ok(finished.size >= 30);
    } finally {
      await scene.end();
    }
  });

  it('take over from one that was stopped in the middle, again and again', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const jobs = new Jobs(scene);
      await jobs.create('handed', { completions: 40, parallelism: 8 });
      const { stop, finished } = await finishEverything(scene, jobs);
      let isOver = false;
      const ended = jobs.ended('handed', 'Complete').finally(() => (isOver = true));
      for (let i = 0; !isOver; i++) {
        const loops = await scene.run(['job']);
        const wanted = Math.min(40, 5 + i * 7);
        await Promise.race([
          ended,
          scene.until<JobPod, true>('pods', 'some progress', (all) =>
            all.filter(({ status }) => status.phase === 'Succeeded').length >= wanted ? true : undefined,
          ),
        ]);
        if (wanted === 40) await ended;
        await loops.stop();
      }
      const { status } = await ended;
      stop();
      assert.equal(status.succeeded, 40);
      assert.equal(finished.size, 40);
    } finally {
      await scene.end();
    }
  });

  /** Lets every pod succeed as soon as it is there, and tells which did. */
  async function finishEverything(scene: LoopScene, jobs: Jobs) {
    const begun = new Set<string>();
    const finished = new Set<string>();
    const stop = await scene.follow<JobPod>('pods', async (pod) => {
      const { uid = '' } = pod?.metadata ?? {};
      if (pod === undefined || begun.has(uid) || !isPodActive(pod)) return;
      begun.add(uid);
      try {
        await jobs.exit(pod, 0);
        finished.add(uid);
      } catch (error) {
        // It may have been deleted as one too many.
        if (!/is missing|was replaced/.test(String(error))) throw error;
      }
    });
    return { stop, finished };
  }
});
