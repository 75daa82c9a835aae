import assert from 'node:assert/strict';
import { type Any, condition, pretend, type Scenario, type Scene, template } from '../scene.js';

const short = pretend({ 'run-seconds': '0.3' });
const failing = pretend({ 'run-seconds': '0.2', 'exit-code': '3' });
const forever = pretend({ 'run-seconds': 'forever' });
const never = { restartPolicy: 'Never' };

const job = (name: string, spec: object = {}, annotations: object = short, pod: object = never) => ({
  metadata: { name },
  spec: { template: template({}, annotations, pod), ...spec },
});
const isComplete = (object: Any) => condition(object, 'Complete')?.status === 'True';
const isFailed = (object: Any) => condition(object, 'Failed')?.status === 'True';
const complete = (scene: Scene, name: string) => scene.until('jobs', name, 'complete', isComplete);
const indexed = { completionMode: 'Indexed' };

const cronJob = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { schedule: '@yearly', jobTemplate: { spec: { template: template({}, short, never) } }, ...spec },
});
const owned = ({ metadata }: Any) => [
  { apiVersion: 'batch/v1', kind: 'CronJob', name: metadata.name, uid: metadata.uid, controller: true },
];

export const tasks: readonly Scenario[] = [
  {
    name: 'a job whose containers restart in place ends with one pod',
    run: async (scene) => {
      const annotations = pretend({ 'run-seconds': '0.2', 'exit-code': '1', 'fail-times': '1' });
      await scene.create('jobs', job('again', {}, annotations, { restartPolicy: 'OnFailure' }));
      await complete(scene, 'again');
      const pods = await scene.list('pods');
      assert.equal(pods.length, 1);
      assert.equal(pods[0].status.containerStatuses[0].restartCount, 1);
    },
  },
  {
    name: 'a work queue ends when one pod has succeeded and all have ended',
    run: async (scene) => {
      await scene.create('jobs', job('queue', { parallelism: 3 }));
      const { status } = await complete(scene, 'queue');
      assert.ok(status.succeeded >= 1 && status.succeeded <= 3);
      assert.ok((await scene.list('pods')).length <= 3);
    },
  },
  {
    name: 'a job without parallelism waits until it gets some',
    run: async (scene) => {
      await scene.create('jobs', job('waits', { parallelism: 0, completions: 2 }));
      await scene.stays('it has no pods', async () => (await scene.list('pods')).length === 0);
      await scene.patch('jobs', 'waits', { spec: { parallelism: 2 } });
      assert.equal((await complete(scene, 'waits')).status.succeeded, 2);
    },
  },
  {
    name: 'less parallelism ends active pods',
    run: async (scene) => {
      await scene.create('jobs', job('many', { parallelism: 4, completions: 8 }, forever));
      await scene.until('jobs', 'many', 'four', ({ status }) => status?.active === 4);
      await scene.patch('jobs', 'many', { spec: { parallelism: 1 } });
      await scene.until('jobs', 'many', 'one', ({ status }) => status.active === 1);
      await scene.delete('jobs', 'many', { propagationPolicy: 'Background' });
      await scene.untilAll('pods', 'none', (pods) => pods.length === 0);
    },
  },
  {
    name: 'a job counts its ready pods',
    since: '1.24',
    run: async (scene) => {
      await scene.create('jobs', job('ready', { parallelism: 2, completions: 2 }, forever));
      await scene.until('jobs', 'ready', 'two ready', ({ status }) => status?.ready === 2 && status.active === 2);
    },
  },
  {
    name: 'a suspended job loses its pods, and begins anew with others',
    since: '1.21',
    run: async (scene) => {
      await scene.create('jobs', job('pausing', { parallelism: 2, completions: 2 }, forever));
      await scene.until('jobs', 'pausing', 'two', ({ status }) => status?.active === 2);
      await scene.patch('jobs', 'pausing', { spec: { suspend: true } });
      await scene.untilAll('pods', 'none', (pods) => pods.length === 0);
      const { status: paused } = await scene.until(
        'jobs',
        'pausing',
        'suspended',
        (one) => condition(one, 'Suspended')?.status === 'True',
      );
      assert.equal(paused.startTime, undefined);
      await scene.patch('jobs', 'pausing', { spec: { suspend: false } });
      const { status } = await scene.until('jobs', 'pausing', 'two again', (one) => one.status.active === 2);
      assert.ok(status.startTime);
      await scene.event('Suspended', 'pausing');
      await scene.event('Resumed', 'pausing');
    },
  },
  {
    name: 'a failure policy ignores an exit code',
    since: '1.25',
    run: async (scene) => {
      const annotations = pretend({ 'run-seconds': '0.2', 'exit-code': '3' });
      const rules = [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [3] } }];
      await scene.create('jobs', job('patient', { backoffLimit: 0, podFailurePolicy: { rules } }, annotations));
      await scene.untilAll('pods', 'a second try', (pods) => pods.length >= 2);
      assert.ok(!isFailed(await scene.get('jobs', 'patient')));
      await scene.delete('jobs', 'patient', { propagationPolicy: 'Background' });
    },
  },
  {
    name: 'a failure policy that counts leads to the back-off limit',
    since: '1.25',
    run: async (scene) => {
      const rules = [{ action: 'Count', onExitCodes: { operator: 'NotIn', values: [7] } }];
      await scene.create('jobs', job('counted', { backoffLimit: 0, podFailurePolicy: { rules } }, failing));
      const ended = await scene.until('jobs', 'counted', 'failed', isFailed);
      assert.equal(condition(ended, 'Failed').reason, 'BackoffLimitExceeded');
    },
  },
  {
    name: 'an index that fails too often fails alone',
    since: '1.28',
    run: async (scene) => {
      const spec = { ...indexed, completions: 2, parallelism: 2, backoffLimitPerIndex: 0 };
      await scene.create('jobs', job('each', spec, failing));
      const ended = await scene.until('jobs', 'each', 'failed', isFailed);
      assert.equal(condition(ended, 'Failed').reason, 'FailedIndexes');
      assert.equal(ended.status.failedIndexes, '0,1');
    },
  },
  {
    name: 'too many failed indexes end the job',
    since: '1.28',
    run: async (scene) => {
      const spec = { ...indexed, completions: 6, parallelism: 1, backoffLimitPerIndex: 0, maxFailedIndexes: 1 };
      await scene.create('jobs', job('most', spec, failing));
      const ended = await scene.until('jobs', 'most', 'failed', isFailed);
      assert.equal(condition(ended, 'Failed').reason, 'MaxFailedIndexesExceeded');
    },
  },
  {
    name: 'a pod that is being deleted is replaced when it has ended, if that is wanted',
    since: '1.28',
    run: async (scene) => {
      const annotations = { ...forever, ...pretend({ 'stop-seconds': '3' }) };
      const pods = { ...never, terminationGracePeriodSeconds: 20 };
      await scene.create('jobs', job('after', { podReplacementPolicy: 'Failed' }, annotations, pods));
      const [first] = await scene.untilAll('pods', 'one', (all) => all[0]?.status.phase === 'Running');
      await scene.delete('pods', first.metadata.name);
      let most = 0;
      await scene.untilAll('pods', 'another', (all) => {
        most = Math.max(
          most,
          all.filter(({ status }) => status.phase === 'Pending' || status.phase === 'Running').length,
        );
        return all.some(({ metadata, status }) => metadata.uid !== first.metadata.uid && status.phase === 'Running');
      });
      assert.equal(most, 1);
    },
  },
  {
    name: 'an elastic job changes its completions with its parallelism',
    since: '1.27',
    run: async (scene) => {
      await scene.create('jobs', job('elastic', { ...indexed, completions: 2, parallelism: 2 }, forever));
      await scene.until('jobs', 'elastic', 'two', ({ status }) => status?.active === 2);
      await scene.patch('jobs', 'elastic', { spec: { completions: 3, parallelism: 3 } });
      await scene.until('jobs', 'elastic', 'three', ({ status }) => status.active === 3);
    },
  },
  {
    name: 'a success policy can name the indexes that count',
    since: '1.30',
    run: async (scene) => {
      const successPolicy = { rules: [{ succeededIndexes: '0' }] };
      await scene.create('jobs', job('leader', { ...indexed, completions: 3, parallelism: 1, successPolicy }));
      const ended = await complete(scene, 'leader');
      assert.equal(ended.status.completedIndexes, '0');
    },
  },
  {
    name: 'a job that somebody else manages is left alone',
    since: '1.30',
    run: async (scene) => {
      await scene.create('jobs', job('theirs', { managedBy: 'example.com/queue' }));
      await scene.stays('it has no pods', async () => (await scene.list('pods')).length === 0);
      assert.equal((await scene.get('jobs', 'theirs')).status.startTime, undefined);
    },
  },
  {
    name: 'an orphaning deletion of a job keeps its pods',
    run: async (scene) => {
      await scene.create('jobs', job('parent', {}, forever));
      await scene.untilAll('pods', 'one', (pods) => pods[0]?.status.phase === 'Running');
      await scene.delete('jobs', 'parent', { propagationPolicy: 'Orphan' });
      await scene.untilGone('jobs', 'parent');
      const [pod] = await scene.list('pods');
      assert.equal((pod.metadata.ownerReferences ?? []).length, 0);
    },
  },
  {
    name: 'a cron job keeps as many finished jobs as it says',
    run: async (scene) => {
      const made = await scene.create('cronjobs', cronJob('keeps', { successfulJobsHistoryLimit: 1 }));
      const metadata = (name: string) => ({ name, ownerReferences: owned(made) });
      const { spec } = made.spec.jobTemplate;
      for (const name of ['one', 'two', 'three']) {
        await scene.create('jobs', { metadata: metadata(name), spec });
        await scene.until('jobs', name, 'complete or gone', isComplete).catch(() => undefined);
      }
      await scene.untilAll('jobs', 'the last one', (all) => all.length === 1);
    },
  },
  {
    name: 'a cron job forgets failed jobs as it says',
    run: async (scene) => {
      const made = await scene.create('cronjobs', cronJob('forgets', { failedJobsHistoryLimit: 0 }));
      const spec = { backoffLimit: 0, template: template({}, failing, never) };
      await scene.create('jobs', { metadata: { name: 'bad', ownerReferences: owned(made) }, spec });
      await scene.untilGone('jobs', 'bad');
    },
  },
  {
    name: 'a schedule of every minute makes a job at the full minute, unless it is suspended',
    run: async (scene) => {
      await scene.create('cronjobs', cronJob('minutely', { schedule: '* * * * *' }));
      await scene.create('cronjobs', cronJob('asleep', { schedule: '* * * * *', suspend: true }));
      // A whole minute may pass before the first one.
      const isMade = ({ status }: Any) => status?.lastScheduleTime !== undefined;
      const made = await scene
        .until('cronjobs', 'minutely', 'a run', isMade)
        .catch(() => scene.until('cronjobs', 'minutely', 'a run', isMade));
      assert.match(made.status.lastScheduleTime, /:00Z$/);
      const [run] = await scene.untilAll('jobs', 'a job', (all) => all.length >= 1);
      assert.match(run.metadata.name, /^minutely-\d+$/);
      assert.ok((await scene.list('jobs')).every(({ metadata }) => !metadata.name.startsWith('asleep')));
      await scene.delete('cronjobs', 'minutely');
      await scene.delete('cronjobs', 'asleep');
    },
  },
];
