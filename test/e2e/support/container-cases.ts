import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { busyboxImage } from '../../support/test-containerd.js';
import { type AgentNode, isTrue } from './agent-node.js';
import { eventually } from './test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';

/** Cases about containers of a pod, from their start to their end. */
export function containerCases(node: () => AgentNode): void {
  it('gives a container its environment, files, limits and addresses, and reports how it runs', async () => {
    const { admin, kubectl, create, untilPod, containerd, shell } = node();
    await admin.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'map' },
      data: { key: 'from the map' },
    });
    await admin.post('/api/v1/namespaces/default/secrets', {
      metadata: { name: 'safe' },
      stringData: { word: 'hush' },
    });
    await create('whole', {
      initContainers: [{ name: 'first', ...shell('echo done > /shared/first') }].map((each) => ({
        ...each,
        volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
      })),
      containers: [
        {
          name: 'main',
          ...shell('echo "$(NAME) $KEY"; cat /shared/first /safe/word; id -u; hostname; sleep 1000'),
          env: [
            { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'map', key: 'key' } } },
          ],
          resources: { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '200m', memory: '32Mi' } },
          securityContext: { runAsUser: 1000 },
          readinessProbe: { exec: { command: ['/bin/true'] }, periodSeconds: 1 },
          volumeMounts: [
            { name: 'shared', mountPath: '/shared' },
            { name: 'safe', mountPath: '/safe' },
          ],
        },
      ],
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'safe', secret: { secretName: 'safe', defaultMode: 0o444 } },
      ],
    });
    const { status, metadata } = await untilPod('whole', 'the pod is ready', (seen) => isTrue(seen, 'Ready'));
    assert.equal(status.phase, 'Running');
    assert.match(status.podIP, /^10\.203\./);
    const [main] = status.containerStatuses;
    assert.deepEqual([main.ready, main.started, main.restartCount, main.image], [true, true, 0, busyboxImage]);
    const [first] = status.initContainerStatuses;
    assert.deepEqual(
      [first.ready, first.state.terminated.reason, first.state.terminated.exitCode],
      [true, 'Completed', 0],
    );
    // The probe succeeds while the script still writes.
    const log = await eventually(() => {
      const seen = kubectl.ok(['logs', 'whole']);
      return seen.split('\n').length > 4 && seen;
    }, 'all lines of the script');
    assert.equal(log, 'whole from the map\ndone\nhush1000\nwhole\n');
    assert.equal(kubectl.ok(['logs', 'whole', '--tail=1']), 'whole\n');
    const found = kubectl.ok(['exec', 'whole', '--', 'cat', '/proc/1/cgroup']);
    assert.match(found, new RegExp(`${containerd.cgroupRoot}/kubepods/burstable/pod${metadata.uid}/`));
    const failed = kubectl.run(['exec', 'whole', '--', 'sh', '-c', 'exit 7']);
    assert.equal(failed.code, 7, failed.stderr);
  });

  it('restarts what fails, after a pause the second time, and tells why it ended', async () => {
    const { admin, create, untilPod, shell } = node();
    await create('failing', {
      containers: [
        { name: 'main', ...shell('echo broken > /dev/termination-log; exit 3'), terminationMessagePolicy: 'File' },
      ],
    });
    const { status } = await untilPod(
      'failing',
      'the container waits for its restart',
      (seen) => seen.containerStatuses?.[0].state.waiting?.reason === 'CrashLoopBackOff',
    );
    const [main] = status.containerStatuses;
    assert.equal(status.phase, 'Running');
    assert.ok(main.restartCount >= 1);
    const { exitCode, reason, message } = main.lastState.terminated;
    assert.deepEqual([exitCode, reason, message], [3, 'Error', 'broken\n']);
    assert.equal((await admin.delete(`${pods}/failing`)).status, 200);
  });

  it('says what is missing of an image, a map or a volume', async () => {
    const { create, untilPod, shell } = node();
    await create('lost', {
      containers: [
        { name: 'image', image: 'plinth.test/none:1', imagePullPolicy: 'Never' },
        { name: 'name', image: 'Bad:::Name' },
        { name: 'map', ...shell('true'), envFrom: [{ configMapRef: { name: 'none' } }] },
      ],
    });
    const { status } = await untilPod('lost', 'all containers have a reason', (seen) =>
      seen.containerStatuses?.every(
        (each: { state: { waiting?: { reason: string } } }) =>
          !['ContainerCreating', 'PodInitializing'].includes(each.state.waiting?.reason ?? ''),
      ),
    );
    const reasons = status.containerStatuses.map(
      ({ name, state }: { name: string; state: { waiting: { reason: string } } }) => [name, state.waiting.reason],
    );
    assert.deepEqual(Object.fromEntries(reasons), {
      ...{ image: 'ErrImageNeverPull', name: 'InvalidImageName', map: 'CreateContainerConfigError' },
    });
  });

  it('runs the hook before the end, and lets the pod go only when nothing runs any more', async () => {
    const { admin, create, untilPod, containerd, shell } = node();
    await create('gentle', {
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: 'main',
          ...shell('trap "exit 0" TERM; while true; do sleep 0.1; done'),
          lifecycle: { preStop: { exec: { command: ['/bin/sh', '-c', 'echo bye > /m/hook'] } } },
          volumeMounts: [{ name: 'm', mountPath: '/m' }],
        },
      ],
      volumes: [{ name: 'm', hostPath: { path: join(containerd.folder, 'hooks'), type: 'DirectoryOrCreate' } }],
    });
    const { metadata } = await untilPod('gentle', 'the pod runs', (seen) => seen.phase === 'Running');
    await admin.delete(`${pods}/gentle`);
    await eventually(async () => (await admin.get(`${pods}/gentle`)).status === 404, 'the pod is gone');
    assert.equal(await fs.readFile(join(containerd.folder, 'hooks', 'hook'), 'utf8'), 'bye\n');
    await eventually(
      () =>
        fs.stat(join(containerd.folder, 'agent', 'pods', metadata.uid)).then(
          () => false,
          () => true,
        ),
      'its files are gone',
    );
  });
}
