import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemTimers } from '../../base/machinery/timers.js';
import { type ManagerDependencies, PodManager } from './pod-manager.js';
import { emptyRuntimePod } from './pods/runtime-pod.js';

it('an unwanted pod whose containers the runtime can not describe does not keep the others', {
  timeout: 120_000,
}, async () => {
  const stopping = new AbortController();
  const uids = ['broken', 'lost'];
  const ended: string[] = [];
  const answers: unknown[] = [];
  const folders = { uids: async () => [], removedUids: async () => [], uidsOfLogs: async () => [] };
  const logger = { debug: () => undefined, error: () => undefined };
  const manager = new PodManager({
    view: {
      relist: async () => uids,
      pods: () => uids.map((uid) => ({ uid, namespace: 'default', name: uid })),
      read: async (uid: string) => {
        if (uid === 'broken') throw new Error('the runtime does not know');
        ended.push(uid);
        stopping.abort();
        return emptyRuntimePod(uid, 'default', uid);
      },
    },
    ...{ timers: systemTimers, logger, onRuntime: (error: unknown) => answers.push(error) },
    shared: { folders, settings: {}, cgroups: {}, timers: systemTimers, logger, signal: stopping.signal },
  } as unknown as ManagerDependencies);
  manager.complete();
  await manager.run(stopping.signal);
  assert.equal(ended[0], 'lost');
  assert.deepEqual(answers, [undefined]);
});
