import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentScene } from './agent-scene.js';
import { eventually } from './test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';

/** Cases about node agents whose pods change their resources, or restart as a whole. */
export function resizeCases(scene: () => AgentScene): void {
  it('gives running containers other resources, and starts those again that want it', async () => {
    const { admin, nodeName, create, untilPod, shell, kubectl, restartAgent } = scene();
    const resources = { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' } };
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    await create('beside', { containers: [{ name: 'main', ...shell('sleep 1000'), resources }] });
    await untilPod('beside', 'another pod runs', (seen) => seen.phase === 'Running');
    await create('resized', {
      containers: [
        { name: 'main', ...shell('sleep 1000'), resources },
        { name: 'fresh', ...shell('sleep 1000'), resources, resizePolicy },
      ],
    });
    const { status: before } = await untilPod('resized', 'the pod runs', (seen) => seen.phase === 'Running');
    const resize = (cpu: string, memory: string) => {
      const wanted = { requests: { cpu, memory: '32Mi' }, limits: { cpu, memory } };
      const containers = ['main', 'fresh'].map((name) => ({ name, resources: wanted }));
      return admin.patch(`${pods}/resized/resize`, 'strategic-merge', { spec: { containers } });
    };
    const asked = await resize('300m', '96Mi');
    assert.equal(asked.status, 200, asked.text);
    const { status, metadata } = await untilPod(
      'resized',
      'the containers have other resources',
      (seen) =>
        seen.containerStatuses.every(
          (each: { resources: { limits: { memory: string } }; state: { running?: object } }) =>
            each.resources.limits.memory === '96Mi' && each.state.running,
        ) && seen.conditions.every(({ type }: { type: string }) => !type.startsWith('PodResize')),
    );
    const of = (seen: typeof status, name: string) =>
      seen.containerStatuses.find((each: { name: string }) => each.name === name);
    assert.equal(of(status, 'main').containerID, of(before, 'main').containerID);
    assert.equal(of(status, 'main').restartCount, 0);
    assert.equal(of(status, 'fresh').restartCount, 1);
    assert.equal(of(status, 'main').allocatedResources.cpu, '300m');
    assert.equal(status.observedGeneration, metadata.generation);
    const limitFile = '/sys/fs/cgroup/memory/memory.limit_in_bytes';
    const script = `cat ${limitFile} 2>/dev/null || cat /sys/fs/cgroup/memory.max`;
    assert.equal(kubectl.ok(['exec', 'resized', '-c', 'main', '--', 'sh', '-c', script]).trim(), String(96 * 2 ** 20));
    // A resize that does not fit beside another pod waits, also while the agent restarts; when it is reverted, it is
    // forgotten.
    const { body: node } = await admin.get(`/api/v1/nodes/${nodeName}`);
    // The first pod of these tests has 100m, too.
    const most = `${(Number(node.status.allocatable.cpu) * 1000 - 100) / 2}m`;
    assert.equal((await resize(most, '96Mi')).status, 200);
    const isDeferred = (seen: typeof status) =>
      seen.conditions.some(
        ({ type, reason }: { type: string; reason: string }) => type === 'PodResizePending' && reason === 'Deferred',
      );
    await untilPod('resized', 'the resize waits', isDeferred);
    await restartAgent();
    const waiting = await untilPod('resized', 'it still waits', isDeferred);
    assert.equal(of(waiting.status, 'main').allocatedResources.cpu, '300m');
    assert.equal(of(waiting.status, 'main').containerID, of(before, 'main').containerID);
    assert.equal((await resize('300m', '96Mi')).status, 200);
    await untilPod('resized', 'it no longer waits', (seen) => !isDeferred(seen));
    // When the other pod is gone, the resize fits.
    assert.equal((await resize(most, '96Mi')).status, 200);
    await untilPod('resized', 'the resize waits again', isDeferred);
    await admin.delete(`${pods}/beside?gracePeriodSeconds=0`);
    await untilPod(
      'resized',
      'there is room',
      (seen) => !isDeferred(seen) && of(seen, 'main').resources.requests.cpu === most,
    );
    await admin.delete(`${pods}/resized?gracePeriodSeconds=0`);
  });

  it('starts a whole pod anew when a container ends as its rule says', async () => {
    const { admin, create, untilPod, shell } = scene();
    const again = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } };
    await create('anew', {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'first', ...shell('date +%N >> /v/starts'), volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      ],
      containers: [
        {
          name: 'main',
          ...shell('test $(wc -l < /v/starts) = 2 && sleep 1000; exit 88'),
          ...{ restartPolicy: 'Never', restartPolicyRules: [again] },
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
        { name: 'other', ...shell('sleep 1000') },
      ],
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    const { status } = await untilPod(
      'anew',
      'everything runs again',
      (seen) =>
        seen.phase === 'Running' &&
        seen.containerStatuses.every(
          (each: { restartCount: number; state: { running?: object } }) =>
            each.restartCount === 1 && each.state.running,
        ),
    );
    assert.equal(status.initContainerStatuses[0].restartCount, 1);
    assert.equal(status.containerStatuses[1].lastState.terminated.reason, 'RestartingAllContainers');
    const condition = status.conditions.find(({ type }: { type: string }) => type === 'AllContainersRestarting');
    assert.equal(condition.status, 'False');
    await admin.delete(`${pods}/anew?gracePeriodSeconds=0`);
    await eventually(async () => (await admin.get(`${pods}/anew`)).status === 404, 'the pod is gone');
  });
}
