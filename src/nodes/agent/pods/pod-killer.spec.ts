import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import { containerStates } from '../cri/container-messages.js';
import { runtimeLabels } from '../cri/labels.js';
import { PodKiller } from './pod-killer.js';
import type { RuntimeContainer, RuntimePod } from './runtime-pod.js';
import type { PodDependencies } from './worker-dependencies.js';

describe('PodKiller', () => {
  it('stops what runs and what the runtime has lost sight of', async () => {
    const stopped: string[] = [];
    const runtime = { stopContainer: async (id: string) => void stopped.push(id) };
    const killer = new PodKiller({
      runtime,
      timers: systemTimers,
      event: () => undefined,
    } as unknown as PodDependencies);
    const containers = Object.entries(containerStates).map(
      ([id, state]) => ({ id, state, labels: { [runtimeLabels.containerName]: id }, annotations: {} }) as unknown,
    ) as RuntimeContainer[];
    const pod: RuntimePod = { uid: 'u', namespace: 'default', name: 'web', sandboxes: [], containers };
    const declaration = { metadata: {}, spec: { containers: [] } } as unknown as Parameters<
      PodKiller['stopContainers']
    >[0];
    await killer.stopContainers(declaration, pod, 1, new AbortController().signal);
    assert.deepEqual(stopped.sort(), ['running', 'unknown']);
  });
});
