import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { type AgentNode, isTrue } from './agent-node.js';
import { eventually } from './test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';

/** Cases about agents that are killed, or stopped with their machine. */
export function agentRestartCases(node: () => AgentNode): void {
  it('goes on with running containers after it was killed, and makes none twice', async () => {
    const { admin, create, untilPod, containerd, restartAgent, shell } = node();
    const before = (await admin.get(`${pods}/whole`)).body.status.containerStatuses[0].containerID;
    // Those of pods that have ended go meanwhile.
    const kept = async () => {
      const names = ['whole', 'after-restart', 'after-hooked'];
      return (await Promise.all(names.map((name) => containerd.containersOf(name)))).map((ids) => ids.sort());
    };
    const own = await kept();
    assert.ok(own.every((ids) => ids.length >= 2));
    await restartAgent();
    await create('later', { containers: [{ name: 'main', ...shell('sleep 1000') }] });
    await untilPod('later', 'the agent works again', (seen) => seen.phase === 'Running');
    const { status } = (await admin.get(`${pods}/whole`)).body;
    assert.equal(status.containerStatuses[0].containerID, before);
    assert.equal(status.containerStatuses[0].restartCount, 0);
    assert.deepEqual(await kept(), own);
    assert.equal((await containerd.containersOf('later')).length, 2);
    // A pod that is deleted while the agent is away ends when the agent is back.
    await node().stopAgent('SIGKILL');
    await admin.delete(`${pods}/later?gracePeriodSeconds=0`);
    await node().startAgent();
    await eventually(async () => (await containerd.containersOf('later')).length === 0, 'its containers are gone');
    assert.deepEqual(await kept(), own);
  });

  it('lets the command of a probe end when it is stopped', async () => {
    const { admin, create, untilPod, containerd, shell } = node();
    const folder = join(containerd.folder, 'checks');
    const script = 'echo >> /m/begun; sleep 1; echo >> /m/ended';
    await create('probing', {
      containers: [
        {
          ...{ name: 'main', ...shell('sleep 1000'), volumeMounts: [{ name: 'm', mountPath: '/m' }] },
          readinessProbe: { exec: { command: ['/bin/sh', '-c', script] }, periodSeconds: 1, timeoutSeconds: 60 },
        },
      ],
      volumes: [{ name: 'm', hostPath: { path: folder, type: 'DirectoryOrCreate' } }],
    });
    await untilPod('probing', 'a check has ended', (seen) => isTrue(seen, 'Ready'));
    const count = async (file: string) => (await fs.readFile(join(folder, file), 'utf8')).length;
    await eventually(async () => (await count('begun')) > (await count('ended')), 'a check runs');
    await node().stopAgent();
    assert.equal(await count('ended'), await count('begun'));
    await node().startAgent();
    await admin.delete(`${pods}/probing?gracePeriodSeconds=0`);
  });

  it('ends its pods before a machine without systemd goes down, and takes no more', async (context) => {
    const { admin, kubectl, create, untilPod, containerd, nodeName, shell } = node();
    if (await fs.stat('/run/systemd/system').catch(() => undefined)) return context.skip('this machine has systemd');
    await node().stopAgent();
    // All pods end long before that; a busy machine takes its time to remove what is left of them.
    await node().startAgent('--shutdown-grace-period=2m', '--log-level=debug');
    await create('last', {
      terminationGracePeriodSeconds: 15,
      containers: [{ name: 'main', ...shell('trap "exit 0" TERM; echo ready; while true; do sleep 0.1; done') }],
    });
    await untilPod('last', 'the pod runs', (seen) => seen.phase === 'Running');
    // Before that, the script would ignore the signal.
    await eventually(() => kubectl.ok(['logs', 'last']) === 'ready\n', 'the script has its trap');
    await node().stopAgent('SIGTERM');
    const { status } = (await admin.get(`${pods}/last`)).body;
    assert.deepEqual(
      [status.phase, status.reason, status.message],
      ['Failed', 'Terminated', 'Pod was terminated in response to imminent node shutdown.'],
    );
    assert.equal(status.containerStatuses[0].state.terminated.exitCode, 0);
    const { status: reported } = (await admin.get(`/api/v1/nodes/${nodeName}`)).body;
    const ready = reported.conditions.find(({ type }: { type: string }) => type === 'Ready');
    assert.deepEqual([ready.status, ready.message], ['False', 'node is shutting down']);
    assert.deepEqual(await containerd.runningPods(), [], node().agentLog);
    await node().startAgent();
  });
}
