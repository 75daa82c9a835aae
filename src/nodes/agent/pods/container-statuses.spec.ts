import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerStates } from '../cri/container-messages.js';
import { runtimeLabels } from '../cri/labels.js';
import { containerStatuses, type StatusInput } from './container-statuses.js';

describe('the statuses of containers', () => {
  const names = ['a', 'b', 'c', 'd'];
  const statuses = (message: string, left: string, reason = '', exitCode = 1) => {
    const containers = names.map((name) => ({ name, image: 'i' }));
    const runs = names.map((name) => ({
      ...{ id: name, message, reason, exitCode, startedAt: 0, finishedAt: 0, createdAt: 0, imageRef: '' },
      ...{ state: containerStates.exited, annotations: {}, labels: { [runtimeLabels.containerName]: name } },
    }));
    const input = {
      ...{ pod: { metadata: {}, spec: { containers } }, runtime: { containers: runs, sandboxes: [] } },
      ...{ before: [], isOver: true, isRestartingAll: false, runtimeName: 'containerd' },
      problemOf: () => undefined,
      terminationMessageOf: () => left || undefined,
    } as unknown as StatusInput;
    return containerStatuses(input, ['app']).map(({ state }) => state.terminated);
  };

  it('have the message of the runtime before that of the container', () => {
    assert.equal(statuses('cut off', 'broken')[0]?.message, 'cut off: broken');
    assert.equal(statuses('', 'broken')[0]?.message, 'broken');
    assert.equal(statuses('cut off', '')[0]?.message, 'cut off');
    assert.equal('message' in (statuses('', '')[0] ?? {}), false);
  });

  it('share what there is for messages, whatever the runtime sends', () => {
    for (const each of statuses('m'.repeat(1_000_000), 'x'.repeat(4096), 'r'.repeat(1_000_000)))
      assert.deepEqual([each?.message?.length, each?.reason?.length], [3072, 3072]);
    const codes = [-1, 255, 2 ** 31, 2 ** 50].map((code) => statuses('', '', '', code)[0]?.exitCode);
    assert.deepEqual(codes, [-1, 255, 137, 137]);
    assert.equal(statuses('', 'é'.repeat(2000))[0]?.message, 'é'.repeat(1536));
  });

  it('have the beginning of a problem, whatever names are in it', () => {
    const input = {
      pod: { metadata: {}, spec: { containers: [{ name: 'a', image: 'i', resources: {} }] } },
      ...{ runtime: { containers: [], sandboxes: [] }, before: [], isOver: false, isRestartingAll: false },
      problemOf: () => ({ reason: 'InvalidImageName', message: `no name: ${'x'.repeat(1_000_000)}` }),
    } as unknown as StatusInput;
    const { waiting } = containerStatuses(input, ['app'])[0]?.state ?? {};
    assert.match(waiting?.message ?? '', /^no name: x{4087}$/);
    assert.equal(waiting?.reason, 'InvalidImageName');
  });
});
