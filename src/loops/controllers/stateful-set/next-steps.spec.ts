import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processorMs } from '../../../../test/support/processor-time.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { StoredPod } from '../frame/indexes.js';
import { type NextSteps, nextSteps } from './next-steps.js';
import type { StoredStatefulSet } from './stateful-pods.js';

const now = Date.parse('2030-01-01T00:00:00Z');

/** Pods in short: `0 1! 2~ 3x 4- 1o`: ready, not ready, being deleted, failed, done, ready and outdated. */
function pods(text: string): StoredPod[] {
  const words = text === '' ? [] : text.split(' ');
  return words.map((word) => {
    const [, ordinal, marks = ''] = /^(\d+)(.*)$/.exec(word) ?? [];
    const isReady = !/[!x-]/.test(marks);
    const phase = marks.includes('x') ? 'Failed' : marks.includes('-') ? 'Succeeded' : 'Running';
    const lastTransitionTime = formatTime(now - 5_000);
    return {
      metadata: {
        name: `db-${ordinal}`,
        labels: { 'controller-revision-hash': marks.includes('o') ? 'old' : 'new' },
        ...(marks.includes('~') ? { deletionTimestamp: lastTransitionTime } : {}),
      },
      status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }] },
    } as unknown as StoredPod;
  });
}

function set(spec: object): StoredStatefulSet {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } };
  return { metadata: { name: 'db' }, spec: { replicas: 3, updateStrategy, ...spec } } as unknown as StoredStatefulSet;
}

/** Steps in short: `+2` creates (`+2c` from the current revision), `x1` recreates, `-1` removes, `>1` replaces. */
function shown({ create, recreate, superfluous, outdated }: NextSteps): string {
  const name = ({ metadata }: StoredPod) => metadata.name?.slice(3);
  return [
    ...create.map(({ ordinal, revision }) => `+${ordinal}${revision === 'current' ? 'c' : ''}`),
    ...recreate.map((pod) => `x${name(pod)}`),
    ...superfluous.map((pod) => `-${name(pod)}`),
    ...outdated.map((pod) => `>${name(pod)}`),
  ].join(' ');
}

const parallel = { podManagementPolicy: 'Parallel' };
const rolling = (rollingUpdate: object, spec: object = {}) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0, ...rollingUpdate } },
  ...spec,
});

describe('nextSteps', () => {
  const cases: readonly (readonly [string, object, string, string])[] = [
    ['makes the first pod first', {}, '', '+0'],
    ['waits until it is ready', {}, '0!', ''],
    ['makes the next one then', {}, '0', '+1'],
    ['waits for a pod that is being deleted', {}, '0~', ''],
    ['waits for minReadySeconds', { minReadySeconds: 10 }, '0', ''],
    ['goes on after minReadySeconds', { minReadySeconds: 5 }, '0', '+1'],
    ['fills a gap before anything else', {}, '0 2', '+1'],
    ['makes a failed pod anew', {}, '0 1x 2', 'x1'],
    ['makes a pod that is done anew', {}, '0 1- 2', 'x1'],
    ['waits for the end of a failed pod', {}, '0 1x~ 2', ''],
    ['is content', {}, '0 1 2', ''],
    ['removes the last one', {}, '0 1 2 3 4', '-4'],
    ['waits for the end of the last one', {}, '0 1 2 3 4~', ''],
    ['removes nothing while a wanted one is not ready', {}, '0 1! 2 3', ''],
    ['removes a last one that is not ready', {}, '0 1 2 3 4!', '-4'],
    ['does not, while one before it is not ready either', {}, '0 1 2 3! 4!', ''],
    ['removes all', { replicas: 0 }, '0 1', '-1'],
    ['begins at another number', { replicas: 2, ordinals: { start: 5 } }, '', '+5'],
    ['removes what is below that number', { replicas: 2, ordinals: { start: 5 } }, '0 5 6', '-0'],
    ['replaces outdated pods from the end', {}, '0o 1o 2o', '>2'],
    ['waits for the new one', {}, '0o 1o 2!', ''],
    ['goes on with the one before', {}, '0o 1o 2', '>1'],
    ['replaces a missing pod before the next outdated one', {}, '0o 1o', '+2'],
    ['waits for a broken pod even if it is outdated: somebody has to delete it', {}, '0 1 2!o', ''],
    ['keeps outdated pods with OnDelete', { updateStrategy: { type: 'OnDelete' } }, '0o 1o 2o', ''],
    ['makes new ones from the new template with OnDelete', { updateStrategy: { type: 'OnDelete' } }, '0o 1o', '+2'],
    ['keeps those below the partition', rolling({ partition: 2 }), '0o 1o 2', ''],
    ['replaces those above it', rolling({ partition: 2 }), '0o 1o 2o', '>2'],
    ['makes those below it as they were', rolling({ partition: 2 }), '0o', '+1c'],
    ['makes those above it new', rolling({ partition: 1 }), '0o', '+1'],
    ['counts the partition from the first number', rolling({ partition: 1 }, { ordinals: { start: 5 } }), '', '+5c'],
    ['replaces several at once', rolling({ maxUnavailable: 2 }), '0o 1o 2o', '>2 >1'],
    ['replaces as many as may be missing', rolling({ maxUnavailable: 2 }, parallel), '0o 1o 2!', '>1'],
    ['replaces none when too many are missing', rolling({ maxUnavailable: 1 }, parallel), '0o 1o 2!', ''],
    ['rounds a percentage down', rolling({ maxUnavailable: '70%' }), '0o 1o 2o', '>2 >1'],
    ['replaces one at least', rolling({ maxUnavailable: '10%' }), '0o 1o 2o', '>2'],
    ['replaces broken outdated pods in any case', rolling({ maxUnavailable: 1 }, parallel), '0o 1o! 2o!', '>2 >1'],
    ['makes all at once in parallel', parallel, '', '+0 +1 +2'],
    ['makes what is missing in parallel', parallel, '1!', '+0 +2'],
    ['removes all at once in parallel', { ...parallel, replicas: 1 }, '0! 1 2~ 3!', '-3 -1'],
    ['recreates in parallel', parallel, '0x 1- 2', 'x0 x1'],
    ['replaces one after the other even in parallel', parallel, '0o 1o 2o', '>2'],
    ['waits for the new one even in parallel', parallel, '0o 1o 2!', ''],
    ['replaces a broken outdated one in parallel', parallel, '0o 1o! 2', '>1'],
  ];
  for (const [name, spec, present, expected] of cases) {
    it(name, () => {
      const state = { set: set(spec), pods: pods(present), currentRevision: 'old', updateRevision: 'new', now };
      assert.equal(shown(nextSteps(state)), expected);
    });
  }

  it('does nothing for a set that is being deleted', () => {
    const deleted = set(parallel);
    deleted.metadata.deletionTimestamp = formatTime(now);
    const state = { set: deleted, pods: pods('0 5'), currentRevision: 'old', updateRevision: 'new', now };
    assert.equal(shown(nextSteps(state)), '');
  });

  it('makes some pods at a time, however many are wanted', () => {
    const begun = processorMs();
    const most = { replicas: 2 ** 31 - 1, ...parallel };
    for (const spec of [most, { ...most, ...rolling({ maxUnavailable: '1%' }) }]) {
      const state = { set: set(spec), pods: pods('0 3 4o'), currentRevision: 'old', updateRevision: 'new', now };
      const { create, outdated } = nextSteps(state);
      assert.equal(create.length, 500);
      assert.deepEqual([create[0]?.ordinal, create[2]?.ordinal], [1, 5]);
      assert.deepEqual(outdated, []);
    }
    assert.ok(processorMs() - begun < 2000);
  });
});
