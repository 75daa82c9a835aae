import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { containerStates } from '../cri/container-messages.js';
import { PodWorker } from './pod-worker.js';
import type { WorkerDependencies } from './worker-dependencies.js';

it('PodWorker tries ever less often to end a container that the runtime can not stop, and says why', async () => {
  const failures = 8;
  let isRunning = true;
  let tries = 0;
  const done: string[] = [];
  const problems: string[] = [];
  const pauses: number[] = [];
  const stopContainer = async () => {
    tries++;
    if (tries <= failures) throw new Error(`no answer ${tries}`);
    isRunning = false;
  };
  const read = async () => ({
    ...{ uid: 'u', namespace: 'default', name: 'web', sandboxes: [] },
    containers: isRunning ? [{ id: 'c', state: containerStates.running, labels: {}, annotations: {} }] : [],
  });
  const path = join(tmpdir(), 'none');
  const worker = new PodWorker(
    {
      runtime: { stopContainer },
      view: { read },
      timers: { ...systemTimers, now: () => 0, wait: async (milliseconds: number) => void pauses.push(milliseconds) },
      logger: { debug: (_text: string, { error }: { error: Error }) => problems.push(error.message) },
      signal: new AbortController().signal,
      events: { record: () => undefined },
      settings: { hostIPs: () => [] },
      folders: {
        ...{ allocation: () => path, subPaths: () => path, pod: () => path },
        ...{ removeLogs: async () => undefined, remove: async () => undefined },
      },
      releaseVolumes: async () => undefined,
      backOff: { forget: () => undefined },
      images: { forget: () => undefined },
      onDone: (uid: string) => done.push(uid),
    } as unknown as WorkerDependencies,
    { metadata: { uid: 'u', namespace: 'default', name: 'web' }, spec: { containers: [] } } as unknown as Pod,
    true,
  );
  worker.forget();
  await worker.run();
  assert.deepEqual(done, ['u']);
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.deepEqual(
    problems,
    Array.from(pauses, (_, index) => `no answer ${index + 1}`),
  );
});
