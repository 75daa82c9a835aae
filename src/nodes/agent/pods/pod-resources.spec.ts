import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { type Pod, pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { largerAmounts, podAmounts } from '../containers/resources.js';
import { type CapacityVerdict, PodAllocation } from './pod-allocation.js';
import { resizeOf, resourcesOfPod, withResources } from './pod-resources.js';

function podOf(cpu: string, generation = 1, more: object = {}): Pod {
  const container = {
    name: 'app',
    image: 'a',
    resources: { requests: { cpu }, limits: { cpu: '1', memory: '1Gi' } },
    ...more,
  };
  const metadata = { name: 'web', namespace: 'default', uid: 'u', generation };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } }).value;
}

const appOf = (pod: Pod) => pod.spec.containers?.[0] as NonNullable<Pod['spec']['containers']>[number];

describe('resources of a pod', () => {
  it('are compared by their amounts', () => {
    const pod = podOf('100m');
    assert.equal(withResources(pod, resourcesOfPod(podOf('0.1'))), pod);
    assert.equal(appOf(withResources(pod, resourcesOfPod(podOf('200m')))).resources?.requests?.cpu, '200m');
  });

  it('are given to a running container by the runtime, unless it wants to start again for what changes', () => {
    const before = appOf(podOf('100m')).resources;
    assert.equal(resizeOf(appOf(podOf('0.1')), before), 'none');
    assert.equal(resizeOf(appOf(podOf('200m')), before), 'update');
    const policy = (resourceName: string) => ({ resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] });
    assert.equal(resizeOf(appOf(podOf('200m', 1, policy('cpu'))), before), 'restart');
    assert.equal(resizeOf(appOf(podOf('200m', 1, policy('memory'))), before), 'update');
  });

  it('allow the larger of two states while they change', () => {
    const larger = largerAmounts(podAmounts(podOf('100m')), {
      cpuRequestMilli: 50,
      cpuLimitMilli: undefined,
      memoryLimit: 7,
    });
    assert.deepEqual(larger, { cpuRequestMilli: 100, cpuLimitMilli: undefined, memoryLimit: 2 ** 30 });
  });
});

describe('PodAllocation', () => {
  it('agrees to a resize when there is room, and another process goes on with it', async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-allocation-'));
    try {
      const path = join(folder, 'pod', 'allocation.json');
      let check: CapacityVerdict = { problem: 'no room' };
      let agreed = 0;
      const events: string[] = [];
      const make = () =>
        new PodAllocation(path, {
          check: () => check,
          agreed: () => {
            agreed += 1;
          },
          event: (type, reason) => void events.push(`${type} ${reason}`),
        });
      const first = make();
      assert.equal(appOf(await first.consider(podOf('100m'))).resources?.requests?.cpu, '100m');
      await first.gave({ app: appOf(podOf('100m')).resources });
      // A resize that does not fit waits; the pod keeps its resources.
      assert.equal(appOf(await first.consider(podOf('200m', 2))).resources?.requests?.cpu, '100m');
      await first.consider(podOf('200m', 2));
      const pending = { reason: 'Deferred', message: 'no room', generation: 2 };
      assert.deepEqual(first.state, { pending, inProgress: undefined });
      check = 'enough';
      assert.equal(appOf(await first.consider(podOf('200m', 2))).resources?.requests?.cpu, '200m');
      assert.deepEqual([first.state, agreed], [{ pending: undefined, inProgress: { generation: 2 } }, 1]);
      await first.fail(podOf('200m', 2), 'refused');
      const second = make();
      const pod = await second.consider(podOf('200m', 2));
      assert.deepEqual(second.state.inProgress, { generation: 2, error: 'refused' });
      assert.equal(second.actual('app')?.requests?.cpu, '100m');
      await second.gave({ app: appOf(pod).resources });
      await second.finish(pod);
      assert.equal(second.state.inProgress, undefined);
      assert.deepEqual(events, [
        ...['Warning ResizeDeferred', 'Normal ResizeStarted', 'Warning ResizeError', 'Normal ResizeCompleted'],
      ]);
      // Before all pods are known, no resize is accepted, and the reported state stays.
      check = 'unknown';
      const conditions = [{ type: 'PodResizePending', reason: 'Infeasible', message: 'never', observedGeneration: 3 }];
      const waiting = { ...podOf('300m', 3), status: { conditions } } as unknown as Pod;
      assert.equal(appOf(await second.consider(waiting)).resources?.requests?.cpu, '200m');
      assert.deepEqual(second.state.pending, { reason: 'Infeasible', message: 'never', generation: 3 });
      check = { problem: 'never at all', isForEver: true };
      await second.consider(podOf('300m', 4));
      assert.deepEqual(second.state.pending, { reason: 'Infeasible', message: 'never at all', generation: 4 });
      assert.equal(events.at(-1), 'Warning ResizeInfeasible');
      // An incomplete file is ignored.
      await fs.writeFile(path, '{"allocated"');
      assert.equal(appOf(await make().consider(podOf('300m', 3))).resources?.requests?.cpu, '300m');
    } finally {
      await fs.rm(folder, { recursive: true, force: true });
    }
  });
});
