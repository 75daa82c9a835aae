import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Container, type ContainerStatus, containerStates } from '../cri/container-messages.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import { runtimeLabels } from '../cri/labels.js';
import type { Sandbox } from '../cri/sandbox-messages.js';
import { RuntimeView } from './runtime-view.js';

const labels = {
  [runtimeLabels.podUid]: 'u1',
  [runtimeLabels.podName]: 'web',
  [runtimeLabels.podNamespace]: 'default',
};

/** The state in the view of a container that the runtime reports like this. */
async function seenState(status: Partial<ContainerStatus>): Promise<number | undefined> {
  const { exited } = containerStates;
  const known = { id: 'c1', state: exited, createdAt: 1, startedAt: 0, finishedAt: 2, labels, ...status };
  const runtime: Partial<ContainerRuntime> = {
    listSandboxes: async () => [],
    listContainers: async () => [{ ...known, podSandboxId: 's1' } as unknown as Container],
    containerStatus: async () => known as unknown as ContainerStatus,
  };
  const pod = await new RuntimeView(runtime as ContainerRuntime, { elapsed: () => 0 }).read('u1');
  return pod.containers[0]?.state;
}

const failed = (message: string) => ({ exitCode: 128, reason: 'StartError', message });
const noTask = 'failed to create containerd task: ';

describe('RuntimeView', () => {
  it('has a container whose start was cut off as one that was created and not started', async () => {
    for (const message of [
      `${noTask}failed to create shim task: context canceled: unknown`,
      `${noTask}failed to start shim: start failed: : context canceled`,
      `${noTask}failed to start shim: start failed: : signal: killed: unknown`,
      'failed to get container info: context canceled',
    ]) {
      assert.equal(await seenState(failed(message)), containerStates.created, message);
    }
  });

  it('has a container that could not start, or may have run, as one that has ended', async () => {
    const inTime = `${noTask}failed to create shim task: context canceled: unknown`;
    for (const status of [
      failed(`${noTask}failed to create shim task: OCI runtime create failed: exec: "nothing": not found: unknown`),
      // The request may have reached the process that starts the container.
      failed('failed to start containerd task "c1": context canceled: unknown'),
      failed('failed to update container "c1" state: context canceled'),
      { ...failed(inTime), startedAt: 1 },
      { ...failed(inTime), exitCode: 1 },
      { ...failed(inTime), reason: 'Error' },
      // Ended while the runtime was away, which therefore does not know when it started.
      { exitCode: 0, reason: 'Completed', message: '' },
      { exitCode: 255, reason: 'Unknown', message: '' },
    ]) {
      assert.equal(await seenState(status), containerStates.exited, JSON.stringify(status));
    }
  });

  it('finds the pods that have changed by the entries of lists, and asks no more about the others', async () => {
    const { running, exited } = containerStates;
    const entry = (uid: string, state: number) => {
      const own = { ...labels, [runtimeLabels.podUid]: uid };
      return { id: uid, state, createdAt: 1, labels: own, podSandboxId: 's' } as unknown as Container;
    };
    let containers = [entry('u1', running), entry('u2', running)];
    let asked = 0;
    const runtime: Partial<ContainerRuntime> = {
      listSandboxes: async () => [],
      listContainers: async (uid) => {
        if (uid !== undefined) asked++;
        return containers.filter(({ id }) => uid === undefined || id === uid);
      },
      containerStatus: async (id) => containers.find((each) => each.id === id) as unknown as ContainerStatus,
    };
    const view = new RuntimeView(runtime as ContainerRuntime, { elapsed: () => 0 });
    assert.deepEqual((await view.relist()).sort(), ['u1', 'u2']);
    await view.latest('u1');
    await view.latest('u1');
    assert.equal(asked, 1);
    containers.reverse();
    assert.deepEqual(await view.relist(), []);
    containers = [entry('u1', exited), entry('u2', running)];
    assert.deepEqual(await view.relist(), ['u1']);
    assert.equal((await view.latest('u1')).containers[0]?.state, exited);
    assert.equal(asked, 2);
    containers = containers.slice(1);
    assert.deepEqual(await view.relist(), ['u1']);
    assert.deepEqual(await view.relist(), []);
  });

  it('asks again about a pod whose lists and details do not agree', async () => {
    const { running, exited } = containerStates;
    let state: number = exited;
    const container = { id: 'c1', state: running, createdAt: 1, labels, podSandboxId: 's1' } as unknown as Container;
    const runtime: Partial<ContainerRuntime> = {
      listSandboxes: async () => [],
      listContainers: async () => [container],
      containerStatus: async () => ({ ...container, state }) as unknown as ContainerStatus,
    };
    const view = new RuntimeView(runtime as ContainerRuntime, { elapsed: () => 0 });
    await view.relist();
    assert.equal((await view.latest('u1')).containers[0]?.state, exited);
    state = running;
    assert.equal((await view.latest('u1')).containers[0]?.state, running);
    assert.equal((await view.read('u1')).containers[0]?.state, running);
  });

  it('lists sandboxes when a container has changed, and else every few seconds', async () => {
    const sandbox = (state: number) => ({ id: 's', state, createdAt: 1, labels }) as unknown as Sandbox;
    const container = { id: 'c', state: containerStates.running, createdAt: 1, labels, podSandboxId: 's' };
    let sandboxes = [sandbox(0)];
    let containers: Container[] = [];
    let [lists, now] = [0, 0];
    const runtime: Partial<ContainerRuntime> = {
      listSandboxes: async () => {
        lists++;
        return sandboxes;
      },
      listContainers: async () => containers,
    };
    const view = new RuntimeView(runtime as ContainerRuntime, { elapsed: () => now });
    assert.deepEqual(await view.relist(), ['u1']);
    sandboxes = [sandbox(1)];
    now = 3_999;
    assert.deepEqual([await view.relist(), lists], [[], 1]);
    now = 4_000;
    assert.deepEqual([await view.relist(), lists], [['u1'], 2]);
    sandboxes = [];
    containers = [container as unknown as Container];
    now = 4_001;
    assert.deepEqual([await view.relist(), lists], [['u1'], 3]);
    assert.deepEqual([await view.relist(), lists], [[], 3]);
  });
});
