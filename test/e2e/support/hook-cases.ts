import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import type { AgentScene } from './agent-scene.js';
import { eventually } from './test-cluster.js';

/** Cases about hooks of containers whose node agent is killed. */
export function hookCases(scene: () => AgentScene): void {
  it('runs a postStart hook again that it was killed in, and none that has ended', async () => {
    const { folder, create, untilPod, shell, restartAgent } = scene();
    const shared = join(dirname(folder), 'post-start');
    const hook = 'echo begun >> /m/log; until [ -e /m/go ]; do sleep 0.1; done; echo ended >> /m/log';
    await create('hooked', {
      containers: [
        {
          name: 'main',
          ...shell('sleep 1000'),
          lifecycle: { postStart: { exec: { command: ['/bin/sh', '-c', hook] } } },
          volumeMounts: [{ name: 'm', mountPath: '/m' }],
        },
      ],
      volumes: [{ name: 'm', hostPath: { path: shared, type: 'DirectoryOrCreate' } }],
    });
    const log = () => fs.readFile(join(shared, 'log'), 'utf8').catch(() => '');
    await eventually(async () => (await log()) === 'begun\n', 'the hook has begun');
    await restartAgent();
    await eventually(async () => (await log()) === 'begun\nbegun\n', 'the hook has begun again');
    await fs.writeFile(join(shared, 'go'), '');
    const isUp = (seen: { phase: string }) => seen.phase === 'Running';
    const { status } = await untilPod('hooked', 'the pod runs', isUp);
    assert.equal(status.containerStatuses[0].restartCount, 0);
    // Killed while it waits for the file, the first one may have gone on until then.
    const whole = await log();
    assert.match(whole, /^begun\nbegun\n(ended\n){1,2}$/);
    await restartAgent();
    await create('after-hooked', { containers: [{ name: 'main', ...shell('sleep 1000') }] });
    await untilPod('after-hooked', 'the agent works again', isUp);
    assert.equal((await log()).match(/begun/g)?.length, 2);
  });
}
