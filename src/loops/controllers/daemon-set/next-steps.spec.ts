import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTime } from '../../../base/machinery/clock.js';
import type { StoredPod } from '../frame/indexes.js';
import type { NodeFit, StoredDaemonSet } from './daemon-pods.js';
import { nextDaemonStatus } from './daemon-status.js';
import { FailedPods } from './failed-pods.js';
import { type DaemonSteps, daemonState, placementSteps, updateSteps } from './next-steps.js';

const now = Date.parse('2030-01-01T00:00:00Z');
const runs: NodeFit = { runs: true, keeps: true };
const keeps: NodeFit = { runs: false, keeps: true };
const unfit: NodeFit = { runs: false, keeps: false };

/**
 * Nodes with their pods in short: `n1:a n2:b!,c-` with `o` for old, `!` not ready, `~` being deleted, `x` failed, `-`
 * done, `?` waiting for a node; `(n1)` only keeps pods, `[n1]` takes no pods at all, `{n1}` does not exist.
 */
function scene(text: string, updateStrategy: object = { type: 'RollingUpdate' }, spec: object = {}) {
  const fits = new Map<string, NodeFit>();
  const pods: StoredPod[] = [];
  let age = 0;
  for (const word of text.split(' ')) {
    const [, open, node = '', list = ''] = /^([([{]?)(n\d+)[)\]}]?:?(.*)$/.exec(word) ?? [];
    if (open !== '{') fits.set(node, open === '(' ? keeps : open === '[' ? unfit : runs);
    for (const one of list === '' ? [] : list.split(',')) {
      age += 1;
      const [, name, marks = ''] = /^([a-z])(.*)$/.exec(one) ?? [];
      // Old pods have been ready for longer.
      const lastTransitionTime = formatTime(now - (marks.includes('o') ? 60_000 : 5_000));
      const affinity = {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
          },
        },
      };
      pods.push({
        metadata: {
          name,
          creationTimestamp: formatTime(now - 100_000 + age * 1_000),
          labels: { 'controller-revision-hash': marks.includes('o') ? 'old' : 'new' },
          ...(marks.includes('~') ? { deletionTimestamp: lastTransitionTime } : {}),
        },
        spec: marks.includes('?') ? { affinity } : { nodeName: node },
        status: {
          phase: marks.includes('x') ? 'Failed' : marks.includes('-') ? 'Succeeded' : 'Running',
          conditions: [{ type: 'Ready', status: /[!x?-]/.test(marks) ? 'False' : 'True', lastTransitionTime }],
        },
      } as unknown as StoredPod);
    }
  }
  const set = { metadata: { generation: 3 }, spec: { updateStrategy, ...spec } } as unknown as StoredDaemonSet;
  return daemonState(set, pods, fits, { hash: 'new', now });
}

/** Steps in short: `+n1` creates, `-a` deletes, `xa` replaces an ended pod. */
function shown({ create, delete: gone, ended }: DaemonSteps): string {
  const steps = [
    ...create.map((node) => `+${node}`),
    ...gone.map(({ metadata }) => `-${metadata.name}`),
    ...ended.map(({ pod }) => `x${pod.metadata.name}`),
  ];
  return steps.join(' ');
}

const surge = (maxSurge: number | string) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable: 0 },
});
const most = (maxUnavailable: number | string) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });

describe('placementSteps', () => {
  const cases: readonly (readonly [string, string, string, object?])[] = [
    ['make a pod for each node', 'n1 n2 [n3] (n4)', '+n1 +n2'],
    ['are none when all is there', 'n1:a n2:b', ''],
    ['wait for pods that are on their way', 'n1:a? n2:b!', ''],
    ['wait for the end of a pod', 'n1:a~', ''],
    ['do not wait for one that has ended', 'n1:a~x', '+n1'],
    ['remove pods that may not stay', '[n1]:a [n2]:b~', '-a'],
    ['leave pods that may stay', '(n1):a', ''],
    ['remove the younger one of two', 'n1:a,b', '-b'],
    ['keep a placed one rather than one that waits', 'n1:a?,b', '-a'],
    ['remove pods that wait for a node that is gone', '{n1}:a? n2:b', '-a'],
    ['leave pods on a node that is gone to others', '{n1}:a n2:b', ''],
    ['replace pods that ended', 'n1:ax n2:b-', 'xa xb'],
    ['leave an old and a new pod during a surge', 'n1:ao,b!', '', surge(1)],
    ['remove the old one when the new one is available', 'n1:ao,b', '-a', surge(1)],
    ['remove further ones during a surge', 'n1:ao,bo,c!,d!', '-d -b', surge(1)],
    ['keep one only without a surge', 'n1:ao,b', '-b', most(1)],
  ];
  for (const [name, text, expected, strategy] of cases) {
    it(name, () => assert.equal(shown(placementSteps(scene(text, strategy))), expected));
  }
});

describe('updateSteps', () => {
  const cases: readonly (readonly [string, string, string, object?, object?])[] = [
    ['replace one pod', 'n1:ao n2:bo', '-a', most(1)],
    ['wait for it', 'n1:a! n2:bo', '', most(1)],
    ['wait for its end', 'n1:ao~ n2:bo', '', most(1)],
    ['wait for minReadySeconds', 'n1:a n2:bo', '', most(1), { minReadySeconds: 6 }],
    ['go on after minReadySeconds', 'n1:a n2:bo', '-b', most(1), { minReadySeconds: 5 }],
    ['are none when all is new', 'n1:a n2:b!', '', most(1)],
    ['replace as many as may be missing', 'n1:ao n2:bo n3:co', '-a -b', most(2)],
    ['round a percentage up', 'n1:ao n2:bo n3:co', '-a -b', most('50%')],
    ['replace broken old pods in any case', 'n1:ao! n2:bo n3:co!', '-a -c', most(1)],
    ['count missing pods', 'n1 n2:bo', '', most(1)],
    ['do not count nodes that need none', '[n1] n2:bo', '-b', most(1)],
    ['replace one when nothing may be missing and nothing may be added', 'n1:ao n2:bo', '-a', most(0)],
    ['are none with OnDelete', 'n1:ao n2:bo', '', { type: 'OnDelete' }],
    ['make a pod beside an old one', 'n1:ao n2:bo', '+n1', surge(1)],
    ['make no more than the surge', 'n1:ao,b! n2:co', '', surge(1)],
    ['remove the old one then', 'n1:ao,b n2:co', '+n2 -a', surge(1)],
    ['round the surge up', 'n1:ao n2:bo n3:co', '+n1 +n2', surge('50%')],
    ['make pods beside broken ones in any case', 'n1:ao n2:bo! n3:co!', '+n2 +n3 +n1', surge(1)],
    ['make none where pods may only stay', '(n1):ao n2:bo', '+n2', surge(2)],
  ];
  for (const [name, text, expected, strategy, spec] of cases) {
    it(name, () => assert.equal(shown(updateSteps(scene(text, strategy, spec))), expected));
  }
});

describe('the status of a daemon set', () => {
  const before = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  it('counts nodes by their oldest pod', () => {
    assert.deepEqual(nextDaemonStatus(before, scene('n1:a n2:bo n3:c! n4 (n5):d [n6]:e [n7]'), 0), {
      currentNumberScheduled: 3,
      numberMisscheduled: 2,
      desiredNumberScheduled: 4,
      numberReady: 2,
      observedGeneration: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 2,
      numberUnavailable: 2,
    });
  });
  it('leaves out what is none', () => {
    assert.deepEqual(nextDaemonStatus(before, scene('n1:a'), 1), {
      currentNumberScheduled: 1,
      numberMisscheduled: 0,
      desiredNumberScheduled: 1,
      numberReady: 1,
      observedGeneration: 3,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      collisionCount: 1,
    });
  });
});

describe('FailedPods', () => {
  it('wait twice as long each time, up to a quarter of an hour', () => {
    const failed = new FailedPods();
    assert.equal(failed.mayReplace('a', 0), true);
    assert.equal(failed.mayReplace('a', 400), 600);
    assert.equal(failed.mayReplace('b', 400), true, 'another node has its own time');
    assert.equal(failed.mayReplace('a', 1_000), true);
    assert.equal(failed.mayReplace('a', 2_000), 1_000);
    let at = 1_000;
    for (let pause = 2_000; pause < 900_000; pause *= 2) {
      at += pause;
      assert.equal(failed.mayReplace('a', at - 1), 1);
      assert.equal(failed.mayReplace('a', at), true);
    }
    assert.equal(failed.mayReplace('a', at), 900_000);
    assert.equal(failed.mayReplace('a', at + 2_000_000), true);
    assert.equal(failed.mayReplace('a', at + 2_000_000), 1_000, 'a long rest is forgiven');
  });
});
