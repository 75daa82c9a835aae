import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { containerStates } from '../cri/container-messages.js';
import { emptyRuntimePod, type RuntimeContainer } from '../pods/runtime-pod.js';
import { rotateRunningLogs } from './running-logs.js';

describe('rotateRunningLogs', () => {
  it('rotates the logs of all pods though one has put a link in the place of its folder', async (t) => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'logs-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    const logFolder = join(folder, 'logs');
    const outside = join(folder, 'outside');
    await fs.mkdir(join(logFolder, 'good'), { recursive: true });
    await fs.mkdir(outside);
    await fs.symlink(outside, join(logFolder, 'bad'));
    await fs.writeFile(join(outside, '0.log'), 'x'.repeat(100));
    await fs.writeFile(join(logFolder, 'good', '0.log'), 'x'.repeat(100));
    const names = ['bad', 'unreadable', 'good'];
    const reopened: string[] = [];
    const rotation = rotateRunningLogs({
      runtime: { reopenLog: async (id) => void reopened.push(id) },
      view: {
        pods: () => names.map((name) => ({ uid: name, namespace: 'default', name })),
        latest: async (uid) => {
          if (uid === 'unreadable') throw new Error('the runtime does not know it');
          const logPath = join(logFolder, uid, '0.log');
          const run = { id: uid, state: containerStates.running, logPath } as RuntimeContainer;
          return { ...emptyRuntimePod(uid, 'default', uid), containers: [run] };
        },
      },
      ...{ logFolder, maxBytes: 10, maxFiles: 5, now: 0 },
    });
    await assert.rejects(rotation, /^AggregateError: 2 logs/);
    assert.deepEqual(reopened, ['good']);
    assert.deepEqual(await fs.readdir(outside), ['0.log']);
    assert.deepEqual(await fs.readdir(join(logFolder, 'good')), ['0.log.19700101-000000']);
  });
});
