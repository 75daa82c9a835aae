import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { isFolderName, PodFolders } from './pod-folders.js';

it('PodFolders finds the logs of a pod by its uid alone', async () => {
  const root = await fs.mkdtemp(join(tmpdir(), 'plinth-folders-'));
  try {
    const logs = join(root, 'logs');
    const folders = new PodFolders(root, logs);
    await folders.removeLogs('u1');
    for (const uid of ['u1', 'u11', '1']) {
      await fs.mkdir(join(folders.podLogs('default', `web-${uid}`, uid), 'c'), { recursive: true });
    }
    await folders.removeLogs('u1');
    assert.deepEqual((await fs.readdir(logs)).sort(), ['default_web-1_1', 'default_web-u11_u11']);
    await assert.rejects(folders.removeLogs('../u11'), /can't be a name of a folder/);
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
});

it('PodFolders takes only what can be a uid for the files of a pod', async () => {
  const root = await fs.mkdtemp(join(tmpdir(), 'plinth-folders-'));
  try {
    const folders = new PodFolders(root, join(root, 'logs'));
    assert.deepEqual(await folders.uids(), []);
    // Other programs' files there must not keep the agent from its own pods.
    for (const name of ['u1', '.nfs0001', 'lost+found', '-', 'u-', 'a b']) {
      await fs.mkdir(join(folders.pods, name), { recursive: true });
    }
    await fs.writeFile(join(folders.pods, 'README'), '');
    assert.deepEqual(await folders.uids(), ['u1']);
    assert.deepEqual(['u1', '..', '.', '', 'a/b', 'u-', '_'].filter(isFolderName), ['u1']);
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
});

it('PodFolders removes the files of a pod also when there is no room to note that', async () => {
  const root = await fs.mkdtemp(join(tmpdir(), 'plinth-folders-'));
  try {
    const folders = new PodFolders(root, join(root, 'logs'));
    await folders.make('u1');
    await folders.make('u2');
    // A file where the folder of the notes should be is as good as a full disk.
    await fs.writeFile(folders.removed, '');
    await folders.remove('u1');
    assert.deepEqual([await folders.uids(), await folders.removedUids()], [['u2'], []]);
    await fs.rm(folders.removed);
    await folders.remove('u2');
    assert.deepEqual([await folders.uids(), await folders.removedUids()], [[], ['u2']]);
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
});
