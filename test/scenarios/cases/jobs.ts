import assert from 'node:assert/strict';
import { type Any, condition, ownedBy, pretend, type Scenario, type Scene, template } from '../scene.js';

const short = pretend({ 'run-seconds': '0.3' });
const failing = pretend({ 'run-seconds': '0.2', 'exit-code': '3' });
const once = { restartPolicy: 'Never' };

const job = (name: string, spec: object = {}, annotations: object = short) => ({
  metadata: { name },
  spec: { template: template({}, annotations, once), ...spec },
});
const isComplete = (object: Any) => condition(object, 'Complete')?.status === 'True';
const isFailed = (object: Any) => condition(object, 'Failed')?.status === 'True';

const complete = (scene: Scene, name: string) => scene.until('jobs', name, 'complete', isComplete);

export const jobs: readonly Scenario[] = [
  {
    name: 'a job runs one pod to its end',
    run: async (scene) => {
      const made = await scene.create('jobs', job('one'));
      const ended = await complete(scene, 'one');
      assert.equal(ended.status.succeeded, 1);
      assert.equal(ended.status.active ?? 0, 0);
      assert.ok(ended.status.startTime);
      assert.ok(ended.status.completionTime);
      const pods = await scene.list('pods');
      assert.equal(pods.length, 1);
      assert.ok(ownedBy(made.metadata.uid)(pods[0]));
      assert.equal(pods[0].metadata.labels['job-name'], 'one');
      await scene.event('SuccessfulCreate', 'one', /^Created pod: one-/);
      await scene.event('Completed', 'one', /^Job completed$/);
    },
  },
  {
    name: 'completions are reached with no more than parallelism pods at a time',
    run: async (scene) => {
      await scene.create('jobs', job('many', { completions: 5, parallelism: 2 }));
      let most = 0;
      let watching = true;
      const watch = (async () => {
        while (watching) {
          const pods = await scene.list('pods');
          most = Math.max(
            most,
            pods.filter(({ status }) => status.phase === 'Pending' || status.phase === 'Running').length,
          );
        }
      })();
      const ended = await complete(scene, 'many');
      watching = false;
      await watch;
      assert.equal(ended.status.succeeded, 5);
      assert.ok(most <= 2, `${most} at once`);
    },
  },
  {
    name: 'an indexed job gives each pod its index and lists the completed ones',
    since: '1.21',
    run: async (scene) => {
      await scene.create('jobs', job('indexed', { completions: 4, parallelism: 4, completionMode: 'Indexed' }));
      const ended = await complete(scene, 'indexed');
      assert.equal(ended.status.completedIndexes, '0-3');
      const pods = await scene.list('pods');
      const indexes = pods.map(({ metadata }) => metadata.annotations['batch.kubernetes.io/job-completion-index']);
      assert.deepEqual(indexes.sort(), ['0', '1', '2', '3']);
      assert.ok(
        pods.every(
          ({ metadata, spec }) =>
            spec.hostname === `indexed-${metadata.annotations['batch.kubernetes.io/job-completion-index']}`,
        ),
      );
    },
  },
  {
    name: 'a job gives up at its back-off limit',
    run: async (scene) => {
      await scene.create('jobs', job('fails', { backoffLimit: 1 }, failing));
      const ended = await scene.until('jobs', 'fails', 'failed', isFailed);
      assert.equal(condition(ended, 'Failed').reason, 'BackoffLimitExceeded');
      assert.equal(ended.status.failed, 2);
      assert.equal((await scene.list('pods')).length, 2);
    },
  },
  {
    name: 'a job that takes too long ends with DeadlineExceeded, and its pods go',
    run: async (scene) => {
      await scene.create('jobs', job('slow', { activeDeadlineSeconds: 1 }, pretend({ 'run-seconds': '600' })));
      const ended = await scene.until('jobs', 'slow', 'failed', isFailed);
      assert.equal(condition(ended, 'Failed').reason, 'DeadlineExceeded');
      await scene.untilAll('pods', 'no running pods', (pods) => pods.every(({ status }) => status.phase === 'Failed'));
    },
  },
  {
    name: 'a suspended job has no pods, and goes on when it is resumed',
    since: '1.21',
    run: async (scene) => {
      await scene.create('jobs', job('later', { suspend: true }));
      const waits = await scene.until(
        'jobs',
        'later',
        'suspended',
        (object) => condition(object, 'Suspended')?.status === 'True',
      );
      assert.equal(waits.status.startTime, undefined);
      assert.equal((await scene.list('pods')).length, 0);
      await scene.patch('jobs', 'later', { spec: { suspend: false } });
      await complete(scene, 'later');
    },
  },
  {
    name: 'a failure policy fails the job at once for an exit code',
    since: '1.25',
    run: async (scene) => {
      const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3] } }];
      await scene.create('jobs', job('policy', { backoffLimit: 6, podFailurePolicy: { rules } }, failing));
      const ended = await scene.until('jobs', 'policy', 'failed', isFailed);
      assert.equal(condition(ended, 'Failed').reason, 'PodFailurePolicy');
      assert.equal((await scene.list('pods')).length, 1);
    },
  },
  {
    name: 'a success policy ends an indexed job early',
    since: '1.30',
    run: async (scene) => {
      const spec = {
        completions: 3,
        parallelism: 3,
        completionMode: 'Indexed',
        successPolicy: { rules: [{ succeededCount: 1 }] },
      };
      await scene.create('jobs', job('early', spec));
      const ended = await complete(scene, 'early');
      assert.equal(condition(ended, 'SuccessCriteriaMet').status, 'True');
    },
  },
  {
    name: 'finished pods lose the tracking finalizer, so nothing holds them',
    since: '1.23',
    run: async (scene) => {
      await scene.create('jobs', job('tracked', { completions: 3, parallelism: 3 }));
      await complete(scene, 'tracked');
      await scene.untilAll('pods', 'no finalizers', (pods) =>
        pods.every(({ metadata }) => (metadata.finalizers ?? []).length === 0),
      );
    },
  },
  {
    name: 'a finished job is removed after its time to live',
    since: '1.21',
    run: async (scene) => {
      await scene.create('jobs', job('short', { ttlSecondsAfterFinished: 1 }));
      await complete(scene, 'short');
      await scene.untilGone('jobs', 'short');
      await scene.untilAll('pods', 'no pods', (pods) => pods.length === 0);
    },
  },
  {
    name: 'a pod that is deleted while it runs is made again',
    run: async (scene) => {
      await scene.create('jobs', job('again', {}, pretend({ 'run-seconds': '2' })));
      const [pod] = await scene.untilAll('pods', 'a running pod', (pods) => pods[0]?.status.phase === 'Running');
      await scene.delete('pods', pod.metadata.name);
      await complete(scene, 'again');
      const pods = await scene.list('pods');
      assert.ok(pods.some(({ metadata, status }) => metadata.uid !== pod.metadata.uid && status.phase === 'Succeeded'));
    },
  },
  {
    name: 'a cron job is made with a schedule, and a manual job from it counts as its own',
    run: async (scene) => {
      const made = await scene.create('cronjobs', {
        metadata: { name: 'nightly' },
        spec: { schedule: '@yearly', jobTemplate: { spec: { template: template({}, short, once) } } },
      });
      const { spec } = made.spec.jobTemplate;
      const owner = {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        name: 'nightly',
        uid: made.metadata.uid,
        controller: true,
      };
      await scene.create('jobs', { metadata: { name: 'manual', ownerReferences: [owner] }, spec });
      await complete(scene, 'manual');
      await scene.delete('cronjobs', 'nightly', { propagationPolicy: 'Background' });
      await scene.untilGone('jobs', 'manual');
    },
  },
];
