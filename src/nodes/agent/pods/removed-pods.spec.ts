import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PodFolders } from '../pod-folders.js';
import { RemovedPods } from './removed-pods.js';

describe('RemovedPods', () => {
  let root: string;
  let folders: PodFolders;
  let now: number;
  let cgroups: Set<string>;
  beforeEach(async () => {
    root = await fs.mkdtemp(join(tmpdir(), 'plinth-removed-'));
    folders = new PodFolders(root, join(root, 'logs'));
    now = 1_000;
    cgroups = new Set(['of-another-agent']);
  });
  afterEach(() => fs.rm(root, { recursive: true, force: true }));

  /** A process of the agent. */
  const start = () => new RemovedPods({ podUids: async () => cgroups }, '/kubepods', folders, { elapsed: () => now });
  const remove = async (removed: RemovedPods, ...uids: readonly string[]) => {
    for (const uid of uids) {
      await folders.remove(uid);
      removed.add(uid);
    }
  };

  it('finds pods that have a cgroup or logs again, and for a while only', async () => {
    const removed = start();
    assert.deepEqual(await removed.comeBack(), []);
    await remove(removed, 'u1', 'u2', 'gone');
    cgroups.add('u1');
    now += 11_000;
    assert.deepEqual(await removed.comeBack(), ['u1']);
    assert.deepEqual(await removed.comeBack(), [], 'not at once again');
    await fs.mkdir(folders.podLogs('default', 'web', 'u2'), { recursive: true });
    await fs.mkdir(folders.podLogs('default', 'web', 'of-another-agent'), { recursive: true });
    now += 11_000;
    assert.deepEqual(await removed.comeBack(), ['u1', 'u2']);
    now += 300_000;
    assert.deepEqual(await removed.comeBack(), ['u1', 'u2'], 'what is still there is not forgotten');
    cgroups.delete('u1');
    await folders.removeLogs('u2');
    now += 11_000;
    assert.deepEqual(await removed.comeBack(), []);
    cgroups.add('u1').add('gone');
    now += 11_000;
    assert.deepEqual(await removed.comeBack(), []);
    assert.deepEqual(await folders.removedUids(), []);
  });

  it('finds those that an earlier process has removed, however long ago', async () => {
    await remove(start(), 'u1', 'u2');
    // The earlier process is killed; what the runtime was doing for it comes to its end.
    cgroups.add('u1');
    now += 3_600_000;
    const removed = start();
    assert.deepEqual(await removed.comeBack(), ['u1']);
    cgroups.delete('u1');
    await remove(removed, 'u1');
    now += 301_000;
    assert.deepEqual(await removed.comeBack(), []);
    assert.deepEqual(await folders.removedUids(), []);
  });
});
