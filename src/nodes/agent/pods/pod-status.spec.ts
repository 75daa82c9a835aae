import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type PodStatusInput, podStatus } from './pod-status.js';

it('a pod reports its containers by name, its init containers in their order, and unready ones as declared', () => {
  const named = (...names: readonly string[]) => names.map((name) => ({ name, image: 'i', resources: {} }));
  const spec = {
    initContainers: named('second', 'first'),
    containers: named('web', 'db', 'cache'),
    ephemeralContainers: named('shell', 'debug'),
  };
  const status = podStatus({
    ...{ pod: { metadata: {}, spec, status: {} }, runtime: { containers: [], sandboxes: [] } },
    ...{ before: undefined, hostIPs: [], startTime: 0, now: 0, end: undefined, resize: {} },
    ...{ isOver: false, isRestartingAll: false, problemOf: () => undefined, actualOf: () => undefined },
  } as unknown as PodStatusInput);
  const of = (found: readonly { name: string }[] | null | undefined) => found?.map(({ name }) => name);
  assert.deepEqual(of(status.containerStatuses), ['cache', 'db', 'web']);
  assert.deepEqual(of(status.initContainerStatuses), ['second', 'first']);
  assert.deepEqual(of(status.ephemeralContainerStatuses), ['debug', 'shell']);
  const ready = status.conditions?.find(({ type }) => type === 'ContainersReady');
  assert.equal(ready?.message, 'containers with unready status: [web db cache]');
});
