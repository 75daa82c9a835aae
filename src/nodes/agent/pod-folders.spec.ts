import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { PodFolders } from './pod-folders.js';

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
