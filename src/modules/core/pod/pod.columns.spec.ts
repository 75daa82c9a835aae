import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames, testStores, testTime } from '../../../../test/support/definition-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podRowConditions } from './pod.columns.js';
import { podResource } from './pod.resource.js';

const tester = new DefinitionTester(podResource(testNames, testStores()));

function podWith(status: Record<string, unknown>): ApiObject {
  const spec = {
    containers: [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'i' },
    ],
    initContainers: [
      { name: 'i', image: 'i' },
      { name: 'j', image: 'i' },
    ],
    readinessGates: [{ conditionType: 'x/y' }, { conditionType: 'x/z' }],
  };
  return tester.patch(tester.create({ spec }).object, { status }, 'status').object;
}

function container(name: string, state: object, rest: object = {}): object {
  return { name, image: 'i', restartCount: 2, state, ...rest };
}

const running = container('d', { running: {} }, { ready: true });
const completed = container('c', { terminated: { exitCode: 0, reason: 'Completed' } });

/** The status of a pod, and the cells of Ready, Status and Restarts. */
const cases: readonly (readonly [status: Record<string, unknown>, cells: readonly [string, string, number]])[] = [
  [{}, ['0/2', 'Pending', 0]],
  [{ phase: 'Failed', reason: 'Evicted' }, ['0/2', 'Evicted', 0]],
  [
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    ['0/2', 'SchedulingGated', 0],
  ],
  [{ phase: 'Running', containerStatuses: [running] }, ['1/2', 'Running', 2]],
  [
    { containerStatuses: [container('c', { waiting: { reason: 'ImagePullBackOff' } })] },
    ['0/2', 'ImagePullBackOff', 2],
  ],
  [{ phase: 'Failed', containerStatuses: [container('c', { terminated: { exitCode: 3 } })] }, ['0/2', 'ExitCode:3', 2]],
  [{ containerStatuses: [container('c', { terminated: { exitCode: 0, signal: 9 } })] }, ['0/2', 'Signal:9', 2]],
  [{ phase: 'Running', containerStatuses: [completed, running] }, ['1/2', 'NotReady', 4]],
  [
    { phase: 'Running', containerStatuses: [completed, running], conditions: [{ type: 'Ready', status: 'True' }] },
    ['1/2', 'Running', 4],
  ],
  [
    { initContainerStatuses: [container('i', { terminated: { exitCode: 0 } }), container('j', { running: {} })] },
    ['0/2', 'Init:1/2', 4],
  ],
  [
    { initContainerStatuses: [container('i', { terminated: { exitCode: 1, reason: 'Error' } })] },
    ['0/2', 'Init:Error', 2],
  ],
  [{ initContainerStatuses: [container('i', { terminated: { exitCode: 3 } })] }, ['0/2', 'Init:ExitCode:3', 2]],
  [
    { initContainerStatuses: [container('i', { terminated: { exitCode: 3, signal: 15 } })] },
    ['0/2', 'Init:Signal:15', 2],
  ],
  [
    { initContainerStatuses: [container('i', { waiting: { reason: 'CrashLoopBackOff' } })] },
    ['0/2', 'Init:CrashLoopBackOff', 2],
  ],
  [{ initContainerStatuses: [container('i', { waiting: { reason: 'PodInitializing' } })] }, ['0/2', 'Init:0/2', 2]],
];

describe('table of pods', () => {
  for (const [status, cells] of cases) {
    it(`sums up ${JSON.stringify(status)}`, () => {
      const [ready, reason, restarts] = cells;
      assert.deepEqual(tester.cells(podWith(status)).slice(1, 4), [ready, reason, String(restarts)]);
    });
  }

  it('shows pods that are being deleted', () => {
    const pod = podWith({ phase: 'Running' });
    pod.metadata.deletionTimestamp = testTime;
    assert.equal(tester.cells(pod)[2], 'Terminating');
    const lost = podWith({ phase: 'Running', reason: 'NodeLost' });
    lost.metadata.deletionTimestamp = testTime;
    assert.equal(tester.cells(lost)[2], 'Unknown');
    const failed = podWith({ phase: 'Failed', reason: 'Evicted' });
    failed.metadata.deletionTimestamp = testTime;
    assert.equal(tester.cells(failed)[2], 'Evicted', 'what has ended does not end again');
  });

  it('says of rows whether the pod has ended', () => {
    const reasons = ['Running', 'Succeeded', 'Failed'].map((phase) => {
      const conditions = podRowConditions(podWith({ phase }) as unknown as Pod) ?? [];
      return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    });
    assert.deepEqual(reasons, [[], ['Completed True Succeeded'], ['Completed True Failed']]);
  });

  it('shows where the pod is', () => {
    assert.deepEqual(tester.cells(podWith({}), 65).slice(4), ['65s', '<none>', '<none>', '<none>', '0/2']);
    const status = { podIP: '1.2.3.4', nominatedNodeName: 'n', conditions: [{ type: 'x/y', status: 'True' }] };
    assert.deepEqual(tester.cells(podWith(status), 65).slice(4), ['65s', '1.2.3.4', '<none>', 'n', '1/2']);
  });

  it('counts containers that keep running beside the others', () => {
    const spec = {
      containers: [{ name: 'c', image: 'i' }],
      initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }],
    };
    const made = tester.create({ spec });
    assert.deepEqual(made.causes, []);
    const sidecar = container('s', { running: {} }, { ready: true, started: true });
    const status = { phase: 'Running', initContainerStatuses: [sidecar] };
    const pod = tester.patch(made.object, { status }, 'status').object;
    assert.deepEqual(tester.cells(pod).slice(1, 4), ['1/2', 'Running', '2']);
  });

  it('shows when a container was last started again', () => {
    const ended = (finishedAt: string) => ({ lastState: { terminated: { exitCode: 1, finishedAt } } });
    const seconds = (ago: number) => new Date(Date.parse(testTime) - ago * 1000).toISOString().replace('.000', '');
    const statuses = [
      container('c', { running: {} }, ended(seconds(600))),
      container('d', { running: {} }, ended(seconds(58))),
    ];
    const pod = podWith({ phase: 'Running', containerStatuses: statuses });
    assert.equal(tester.cells(pod, 65)[3], '4 (2m3s ago)');
  });
});
