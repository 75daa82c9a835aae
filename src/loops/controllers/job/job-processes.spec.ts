import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { isPodActive } from '../frame/pod-state.js';
import type { JobPod } from './job-pod.js';
import { Jobs } from './testing/jobs.js';

describe('job loops in several processes', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  it('count no pod twice although two work at the same time', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const jobs = new Jobs(scene);
      await Promise.all([scene.run(['job']), scene.run(['job'])]);
      await jobs.create('fought', { completions: 30, parallelism: 10, backoffLimit: 1000 });
      const { stop, finished } = await finishEverything(scene, jobs);
      const { status } = await jobs.ended('fought', 'Complete');
      await stop();
      const { succeeded = 0 } = status;
      assert.ok(succeeded >= 30);
      // No process counts a pod that was made by a process that had not yet seen the end of the job.
      assert.ok(succeeded <= finished.size, `${succeeded} counted, ${finished.size} succeeded`);
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
      await stop();
      assert.equal(status.succeeded, 40);
      assert.equal(finished.size, 40);
    } finally {
      await scene.end();
    }
  });

  /**
   * Lets every pod succeed as soon as it exists. Returns the pods that did, once `stop` has waited for the last one.
   */
  async function finishEverything(scene: LoopScene, jobs: Jobs) {
    const begun = new Set<string>();
    const finished = new Set<string>();
    const exits: Promise<void>[] = [];
    const exit = async (pod: JobPod, uid: string) => {
      try {
        await jobs.exit(pod, 0);
        finished.add(uid);
      } catch (error) {
        // The pod may have been deleted as surplus.
        if (!/is missing|was replaced/.test(String(error))) throw error;
      }
    };
    const unfollow = await scene.follow<JobPod>('pods', (pod) => {
      const { uid = '' } = pod?.metadata ?? {};
      if (pod === undefined || begun.has(uid) || !isPodActive(pod)) return undefined;
      begun.add(uid);
      const ended = exit(pod, uid);
      exits.push(ended);
      return ended;
    });
    const stop = async () => {
      unfollow();
      await Promise.allSettled(exits);
    };
    return { stop, finished };
  }
});
