import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentScene } from './agent-scene.js';
import { eventually } from './test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';

/** Cases about what containers see in the volumes of a pod on a node agent. */
export function volumeCases(scene: () => AgentScene): void {
  it('never mounts anything outside of a volume by a subPath', async () => {
    const { admin, create, untilPod, shell, kubectl } = scene();
    await create('escape', {
      initContainers: [
        {
          name: 'prepare',
          ...shell('ln -s /etc /v/up; ln -s ../../../../.. /v/far; mkdir /v/good; echo fine > /v/good/file'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
      containers: ['up/x', 'far', 'good'].map((subPath, i) => ({
        name: `c${i}`,
        ...shell('cat /m/file; sleep 1000'),
        volumeMounts: [{ name: 'v', mountPath: '/m', subPath }],
      })),
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    const { status } = await untilPod(
      'escape',
      'the last container runs',
      (seen) => seen.containerStatuses?.[2].state.running !== undefined,
    );
    for (const each of status.containerStatuses.slice(0, 2)) {
      assert.equal(each.state.waiting.reason, 'CreateContainerConfigError');
      assert.match(
        each.state.waiting.message,
        /^failed to prepare subPath for volumeMount .* leads out of the volume$/,
      );
    }
    await eventually(() => kubectl.ok(['logs', 'escape', '-c', 'c2']) === 'fine\n', 'the container reads its file');
    assert.equal((await admin.delete(`${pods}/escape`)).status, 200);
  });

  it('brings files of maps up to date, and runs a task to its end', async () => {
    const { admin, create, untilPod, shell, kubectl } = scene();
    await admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'live' }, data: { word: 'old' } });
    await create('task', {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          ...shell('until grep -q new /m/word; do sleep 0.2; done; cat /m/word'),
          volumeMounts: [{ name: 'm', mountPath: '/m' }],
        },
      ],
      volumes: [{ name: 'm', configMap: { name: 'live' } }],
    });
    await untilPod('task', 'the pod runs', (seen) => seen.phase === 'Running');
    await admin.patch('/api/v1/namespaces/default/configmaps/live', 'merge', { data: { word: 'new' } });
    // The agent handles a change of the pod at once, not within the minute.
    await admin.patch(`${pods}/task`, 'merge', { metadata: { annotations: { look: 'again' } } });
    const { status } = await untilPod('task', 'the task has ended', (seen) => seen.phase === 'Succeeded');
    assert.equal(status.containerStatuses[0].state.terminated.reason, 'Completed');
    assert.equal(kubectl.ok(['logs', 'task']), 'new');
  });
}
