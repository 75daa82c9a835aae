import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { CronJobSpec } from '../../../objects/apis/batch/v1/cron-job.types.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { DeepPartial } from '../frame/loop-client.js';
import type { StoredJob } from '../job/job-pod.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { StoredCronJob } from './due-run.js';

const minute = 60_000;
const hour = 60 * minute;
const scheduledAt = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const jobTemplate = {
  metadata: { labels: { from: 'cron' }, annotations: { a: 'b' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img:1' }] } } },
};

describe('the cron job loop', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;
  let timers: ManualTimers;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(() => open());
  afterEach(() => scene.end());

  async function open(start = '2030-01-01T00:00:30Z'): Promise<void> {
    timers = new ManualTimers(Date.parse(start));
    scene = await LoopScene.start({ postgres, timers });
  }

  async function reopen(start: string): Promise<void> {
    await scene.end();
    await open(start);
  }

  function create(name: string, spec: DeepPartial<CronJobSpec>): Promise<StoredCronJob> {
    return scene.create<StoredCronJob>('cronjobs.batch', {
      metadata: { name, namespace: 'default' },
      spec: { schedule: '* * * * *', jobTemplate, ...spec } as DeepPartial<CronJobSpec>,
    });
  }

  function change(name: string, set: (live: StoredCronJob) => void): Promise<StoredCronJob> {
    return scene.update<StoredCronJob>('cronjobs.batch', 'default', name, set);
  }

  function status(
    name: string,
    what: string,
    look: (live: StoredCronJob['status']) => boolean,
  ): Promise<StoredCronJob> {
    return scene.until<StoredCronJob, StoredCronJob>('cronjobs.batch', `${name}: ${what}`, (all) =>
      all.find((one) => one.metadata.name === name && look(one.status)),
    );
  }

  /** Waits for exactly these jobs. */
  function jobs(names: readonly string[]): Promise<StoredJob[]> {
    const wanted = [...names].sort().join(' ');
    return scene.until<StoredJob, StoredJob[]>('jobs.batch', `jobs ${wanted}`, (all) => {
      const sorted = all.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
      return sorted.map(({ metadata }) => metadata.name).join(' ') === wanted && sorted;
    });
  }

  /** The name of the job for a scheduled time. */
  function run(name: string, time: string): string {
    return `${name}-${Date.parse(time) / minute}`;
  }

  function finish(name: string, type: 'Complete' | 'Failed' = 'Complete'): Promise<StoredJob> {
    const time = new Date(timers.now()).toISOString().replace(/\.\d+/, '');
    return scene.update<StoredJob>(
      'jobs.batch',
      'default',
      name,
      (live) => {
        live.status.startTime = time;
        const target = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
        const times = { lastProbeTime: time, lastTransitionTime: time };
        live.status.conditions = [target, type].map((one) => ({ type: one, status: 'True', ...times }));
        if (type === 'Complete') live.status.completionTime = time;
      },
      'status',
    );
  }

  function event(reason: string, message = /^/): Promise<ApiObject & Event> {
    return scene.until<ApiObject & Event, ApiObject & Event>('events', `event ${reason} ${message}`, (all) =>
      all.find((one) => one.reason === reason && message.test(one.message ?? '')),
    );
  }

  /** Advances time when the loop waits for the next run. */
  async function pass(milliseconds: number): Promise<void> {
    await timers.waiting((wait) => wait > 0);
    await scene.pass(milliseconds);
  }

  it('starts a job at each time, with what its template says', async () => {
    const { metadata } = await create('minutely', {});
    await scene.run(['cronjob']);
    await pass(minute);
    const [first] = await jobs([run('minutely', '2030-01-01T00:01:00Z')]);
    assert.deepEqual(first?.metadata.labels, { from: 'cron' });
    assert.deepEqual(first?.metadata.annotations, { a: 'b', [scheduledAt]: '2030-01-01T00:01:00Z' });
    assert.deepEqual(first?.metadata.ownerReferences, [
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        name: 'minutely',
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    const live = await status('minutely', 'scheduled', ({ active }) => active?.length === 1);
    assert.equal(live.status.lastScheduleTime, '2030-01-01T00:01:00Z');
    const [reference] = live.status.active ?? [];
    assert.equal(reference?.kind, 'Job');
    assert.equal(reference?.apiVersion, 'batch/v1');
    assert.equal(reference?.uid, first?.metadata.uid);
    assert.equal((await event('SuccessfulCreate')).message, `Created job ${first?.metadata.name}`);
    await pass(minute);
    await jobs([run('minutely', '2030-01-01T00:01:00Z'), run('minutely', '2030-01-01T00:02:00Z')]);
    await status('minutely', 'two active', ({ active }) => active?.length === 2);
  });

  it('notes ended jobs and the last success, and keeps only a few', async () => {
    await create('history', { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 });
    await scene.run(['cronjob']);
    const names: string[] = [];
    for (let i = 1; i <= 5; i++) {
      await pass(minute);
      const name = run('history', `2030-01-01T00:0${i}:00Z`);
      names.push(name);
      await status('history', `run ${i}`, ({ active }) => active?.[0]?.name === name);
      await finish(name, i === 2 || i === 3 ? 'Failed' : 'Complete');
      await status('history', `end of run ${i}`, ({ active }) => active === undefined);
    }
    await jobs([names[2] as string, names[3] as string, names[4] as string]);
    const live = await status('history', 'success', ({ lastSuccessfulTime }) => lastSuccessfulTime !== undefined);
    assert.equal(live.status.lastSuccessfulTime, '2030-01-01T00:05:30Z');
    await event('SawCompletedJob', /^Saw completed job: history-\d+, condition: Complete$/);
    await event('SawCompletedJob', /^Saw completed job: history-\d+, condition: Failed$/);
    await event('SuccessfulDelete', /^Deleted job history-\d+$/);
  });

  it('waits for the last run where that is asked for, and then makes up for the last missed one', async () => {
    await create('forbid', { concurrencyPolicy: 'Forbid' });
    await scene.run(['cronjob']);
    await pass(minute);
    const first = run('forbid', '2030-01-01T00:01:00Z');
    await status('forbid', 'first', ({ active }) => active?.length === 1);
    await pass(minute);
    await event('JobAlreadyActive');
    await pass(minute);
    await jobs([first]);
    await finish(first);
    await jobs([first, run('forbid', '2030-01-01T00:03:00Z')]);
  });

  it('replaces the last run where that is asked for', async () => {
    await create('replace', { concurrencyPolicy: 'Replace' });
    await scene.run(['cronjob']);
    await pass(minute);
    await jobs([run('replace', '2030-01-01T00:01:00Z')]);
    await status('replace', 'first', ({ active }) => active?.length === 1);
    await pass(minute);
    const second = run('replace', '2030-01-01T00:02:00Z');
    await jobs([second]);
    const live = await status('replace', 'second', ({ active }) => active?.[0]?.name === second);
    assert.equal(live.status.active?.length, 1);
  });

  it('starts nothing while suspended, and then only the last missed run', async () => {
    await create('asleep', { schedule: '0 * * * *', suspend: true });
    await create('awake', { schedule: '0 * * * *' });
    await scene.run(['cronjob']);
    for (let i = 0; i < 4; i++) {
      await pass(hour);
      await status('awake', `run ${i}`, ({ lastScheduleTime }) => lastScheduleTime === `2030-01-01T0${i + 1}:00:00Z`);
    }
    await change('asleep', ({ spec }) => {
      spec.suspend = false;
    });
    const live = await status('asleep', 'begun', ({ lastScheduleTime }) => lastScheduleTime !== undefined);
    assert.equal(live.status.lastScheduleTime, '2030-01-01T04:00:00Z');
    assert.equal(live.status.active?.length, 1);
  });

  it('starts no run that is too late', async () => {
    await create('late', { schedule: '0 * * * *', startingDeadlineSeconds: 600 });
    await create('in-time', { schedule: '50 * * * *', startingDeadlineSeconds: 601 });
    await scene.pass(hour - 30_000);
    // The loop comes back after an outage.
    await scene.pass(11 * minute);
    const loops = await scene.run(['cronjob']);
    await scene.rest();
    assert.equal(
      (await scene.get<StoredCronJob>('cronjobs.batch', 'default', 'late')).status.lastScheduleTime,
      undefined,
    );
    await loops.stop();
    await change('late', ({ spec }) => {
      spec.startingDeadlineSeconds = 900;
    });
    await scene.run(['cronjob']);
    await status('late', 'started', ({ lastScheduleTime }) => lastScheduleTime === '2030-01-01T01:00:00Z');
  });

  it('warns of a schedule whose time never comes', async () => {
    await create('never', { schedule: '0 0 31 2 *' });
    await scene.run(['cronjob']);
    const warning = await event('InvalidSchedule');
    const reason = 'time difference between two schedules is less than 1 second';
    assert.deepEqual([warning.type, warning.message], ['Warning', `invalid schedule: 0 0 31 2 * : ${reason}`]);
  });

  it('warns when more than 100 runs were missed, and starts the last one', async () => {
    await create('behind', {});
    await scene.pass(200 * minute);
    await scene.run(['cronjob']);
    await status('behind', 'last', ({ lastScheduleTime }) => lastScheduleTime === '2030-01-01T03:20:00Z');
    const warning = await event('TooManyMissedTimes');
    assert.equal(warning.type, 'Warning');
    assert.match(
      warning.message ?? '',
      /^too many missed start times\. Set or decrease \.spec\.startingDeadlineSeconds/,
    );
    await jobs([run('behind', '2030-01-01T03:20:00Z')]);
  });

  it('follows the clock of a time zone over the changes of its time', async () => {
    // Berlin goes from 2:00 to 3:00 on 31 March.
    await reopen('2030-03-29T12:00:00Z');
    await create('berlin', { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', successfulJobsHistoryLimit: 10 });
    await scene.run(['cronjob']);
    const expected = ['2030-03-30T02:30:00+01:00', '2030-04-01T02:30:00+02:00'];
    const seen: string[] = [];
    for (let i = 0; i < 73; i++) {
      const before = (await scene.get<StoredCronJob>('cronjobs.batch', 'default', 'berlin')).status.lastScheduleTime;
      await pass(hour);
      const due = expected.find((time) => Date.parse(time) > timers.now() - hour && Date.parse(time) <= timers.now());
      if (due === undefined) continue;
      const next = await status('berlin', due, ({ lastScheduleTime }) => lastScheduleTime !== before);
      seen.push(next.status.lastScheduleTime ?? '');
    }
    assert.deepEqual(
      seen,
      expected.map((time) => new Date(time).toISOString().replace('.000', '')),
    );
    const made = await jobs(expected.map((time) => run('berlin', time)));
    assert.deepEqual(
      made.map(({ metadata }) => metadata.annotations?.[scheduledAt]),
      expected,
    );
  });

  it('notices jobs that are gone, and jobs that it did not start', async () => {
    const { metadata } = await create('strange', { schedule: '0 * * * *' });
    await scene.run(['cronjob']);
    await pass(hour);
    const [first] = await jobs([run('strange', '2030-01-01T01:00:00Z')]);
    await status('strange', 'active', ({ active }) => active?.length === 1);
    await scene.delete('jobs.batch', 'default', first?.metadata.name ?? '', { propagationPolicy: 'Background' });
    await status('strange', 'none active', ({ active }) => active === undefined);
    assert.equal((await event('MissingJob')).message, `Active job went missing: ${first?.metadata.name}`);
    await scene.create<StoredJob>('jobs.batch', {
      metadata: {
        name: 'by-hand',
        namespace: 'default',
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'CronJob', name: 'strange', uid: metadata.uid ?? '', controller: true },
        ],
      },
      spec: jobTemplate.spec as DeepPartial<StoredJob['spec']>,
    });
    const warning = await event('UnexpectedJob');
    assert.equal(warning.message, 'Saw a job that the controller did not create or forgot: by-hand');
    const live = await scene.get<StoredCronJob>('cronjobs.batch', 'default', 'strange');
    assert.equal(live.status.active, undefined);
  });

  it('leaves a job of the same name alone that is not its own', async () => {
    await create('taken', {});
    await scene.create<StoredJob>('jobs.batch', {
      metadata: { name: run('taken', '2030-01-01T00:01:00Z'), namespace: 'default' },
      spec: jobTemplate.spec as DeepPartial<StoredJob['spec']>,
    });
    await scene.run(['cronjob']);
    await pass(minute);
    assert.match((await event('FailedCreate')).message ?? '', /^Error creating job: .*already exists/);
    await pass(minute);
    await status('taken', 'next', ({ lastScheduleTime }) => lastScheduleTime === '2030-01-01T00:02:00Z');
  });

  it('takes up a run whose start did not get into the status', async () => {
    const { metadata } = await create('halfway', {});
    const name = run('halfway', '2030-01-01T00:01:00Z');
    await scene.pass(minute);
    await scene.create<StoredJob>('jobs.batch', {
      metadata: {
        name,
        namespace: 'default',
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'CronJob', name: 'halfway', uid: metadata.uid ?? '', controller: true },
        ],
      },
      spec: jobTemplate.spec as DeepPartial<StoredJob['spec']>,
    });
    await scene.run(['cronjob']);
    const live = await status('halfway', 'taken up', ({ active }) => active?.length === 1);
    assert.equal(live.status.active?.[0]?.name, name);
    assert.equal(live.status.lastScheduleTime, '2030-01-01T00:01:00Z');
    await jobs([name]);
  });

  it('starts each run once although two processes work at the same time', async () => {
    for (let i = 0; i < 5; i++) await create(`fought-${i}`, {});
    await Promise.all([scene.run(['cronjob']), scene.run(['cronjob'])]);
    const names: string[] = [];
    for (let round = 1; round <= 3; round++) {
      await pass(minute);
      for (let i = 0; i < 5; i++) {
        names.push(run(`fought-${i}`, `2030-01-01T00:0${round}:00Z`));
        await status(`fought-${i}`, `round ${round}`, ({ active }) => active?.length === round);
      }
    }
    await jobs(names);
  });

  it('goes on where another process stopped', async () => {
    await create('handed', {});
    for (let i = 1; i <= 3; i++) {
      const loops = await scene.run(['cronjob']);
      await pass(minute);
      await status('handed', `run ${i}`, ({ active }) => active?.length === i);
      await loops.stop();
    }
    await jobs([1, 2, 3].map((i) => run('handed', `2030-01-01T00:0${i}:00Z`)));
  });

  it('starts nothing for a cron job that is being deleted', async () => {
    await scene.create<StoredCronJob>('cronjobs.batch', {
      metadata: { name: 'leaving', namespace: 'default', finalizers: ['example.com/wait'] },
      spec: { schedule: '* * * * *', jobTemplate } as DeepPartial<CronJobSpec>,
    });
    await create('staying', {});
    await scene.delete('cronjobs.batch', 'default', 'leaving');
    await scene.run(['cronjob']);
    await pass(minute);
    await jobs([run('staying', '2030-01-01T00:01:00Z')]);
  });
});
