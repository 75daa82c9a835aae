import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IntOrString } from '../../../base/machinery/values/int-or-string.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { deploymentAnnotations, type StoredDeployment, type StoredReplicaSet } from './deployment-annotations.js';
import {
  maxSurge,
  maxUnavailable,
  newSetReplicas,
  type Resize,
  scaledReplicas,
  shrinkOldSets,
} from './deployment-replicas.js';

const keys = deploymentAnnotations(vendorNames('k8s.io'));

function deployment(replicas: number, surge: IntOrString = 0, unavailable: IntOrString = 0): StoredDeployment {
  const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
  const strategy = { type: 'RollingUpdate', rollingUpdate };
  return { metadata: { name: 'd' }, spec: { replicas, strategy }, status: {} } as unknown as StoredDeployment;
}

const recreated = {
  metadata: { name: 'd' },
  spec: { replicas: 5, strategy: { type: 'Recreate' } },
  status: {},
} as unknown as StoredDeployment;

/** A set named after its age: `a` is the oldest. */
function set(name: string, replicas: number, availableReplicas = 0, desired?: number, max?: number): StoredReplicaSet {
  const annotations = {
    ...(desired === undefined ? {} : { [keys.desired]: String(desired) }),
    ...(max === undefined ? {} : { [keys.max]: String(max) }),
  };
  const creationTimestamp = '2030-01-01T00:00:00Z';
  return {
    metadata: { name, creationTimestamp, annotations },
    spec: { replicas },
    status: { replicas, availableReplicas },
  } as unknown as StoredReplicaSet;
}

function sizes(steps: readonly Resize[]): Record<string, number> {
  return Object.fromEntries(steps.map(({ set: { metadata }, replicas }) => [metadata.name, replicas]));
}

describe('maxSurge and maxUnavailable', () => {
  const cases: readonly (readonly [number, IntOrString, IntOrString, number, number])[] = [
    [10, 1, 2, 1, 2],
    [10, '25%', '25%', 3, 2],
    [1, '25%', '25%', 1, 0],
    [3, '0%', '30%', 0, 1],
    [10, 0, '5%', 0, 1],
    [2, 0, 5, 0, 2],
    [0, '25%', '25%', 0, 0],
    [4, '100%', '100%', 4, 4],
  ];
  for (const [replicas, surge, unavailable, more, missing] of cases) {
    it(`of ${replicas} with ${surge} and ${unavailable}`, () => {
      const given = deployment(replicas, surge, unavailable);
      assert.equal(maxSurge(given), more);
      assert.equal(maxUnavailable(given), missing);
    });
  }

  it('are nothing where pods are recreated', () => {
    assert.equal(maxSurge(recreated), 0);
    assert.equal(maxUnavailable(recreated), 0);
  });
});

describe('newSetReplicas', () => {
  const cases: readonly (readonly [string, StoredDeployment, number, readonly StoredReplicaSet[], number])[] = [
    ['all at once without old sets', deployment(5, 1), 0, [], 5],
    ['only the surge beside a full old set', deployment(5, 2), 0, [set('a', 5)], 2],
    ['no more than room is left', deployment(5, 2), 2, [set('a', 4)], 3],
    ['nothing without room', deployment(5, 0, 1), 2, [set('a', 3)], 2],
    ['nothing when there is less than no room', deployment(5, 0, 1), 2, [set('a', 9)], 2],
    ['never more than wanted', deployment(5, 5), 3, [set('a', 1)], 5],
    ['less when less is wanted', deployment(2, 1), 5, [set('a', 3)], 2],
    ['all at once where pods are recreated', recreated, 0, [], 5],
  ];
  for (const [what, given, size, old, expected] of cases) {
    it(what, () => assert.equal(newSetReplicas(given, size, old), expected));
  }
});

describe('shrinkOldSets', () => {
  const cases: readonly (readonly [
    string,
    StoredDeployment,
    StoredReplicaSet,
    readonly StoredReplicaSet[],
    Record<string, number>,
  ])[] = [
    ['nothing without old pods', deployment(3, 1), set('n', 3), [set('a', 0)], {}],
    ['nothing before new pods are available', deployment(3, 1), set('n', 1, 0), [set('a', 3, 3)], {}],
    ['one for each new available pod', deployment(3, 1), set('n', 1, 1), [set('a', 3, 3)], { a: 2 }],
    ['what may be missing, at once', deployment(10, 0, 3), set('n', 0, 0), [set('a', 10, 10)], { a: 7 }],
    ['no pods that are needed', deployment(10, 3, 2), set('n', 5, 0), [set('a', 8, 8)], {}],
    ['pods that serve nobody first', deployment(10, 0, 2), set('n', 0), [set('a', 5, 5), set('b', 5, 3)], { b: 3 }],
    [
      'pods that serve nobody do not count as missing twice',
      deployment(10, 0, 4),
      set('n', 0),
      [set('a', 5, 5), set('b', 5, 3)],
      { a: 3, b: 3 },
    ],
    [
      'no pod in place of one that has been given up before',
      deployment(4, 1),
      set('n', 0),
      [set('a', 2, 1), set('b', 3, 4)],
      { a: 1 },
    ],
    ['the oldest first', deployment(4, 0, 2), set('n', 0), [set('b', 2, 2), set('a', 2, 2)], { a: 0 }],
    [
      'everything when all new pods are there',
      deployment(3, 1),
      set('n', 3, 3),
      [set('a', 1, 1), set('b', 2, 0)],
      { a: 0, b: 0 },
    ],
  ];
  for (const [what, given, newSet, old, expected] of cases) {
    it(what, () => assert.deepEqual(sizes(shrinkOldSets(given, newSet, old)), expected));
  }
});

describe('scaledReplicas', () => {
  const cases: readonly (readonly [
    string,
    StoredDeployment,
    StoredReplicaSet | undefined,
    readonly StoredReplicaSet[],
    Record<string, number>,
  ])[] = [
    ['the only set', deployment(5, 1), set('n', 3, 3, 3, 4), [], { n: 5 }],
    ['the only set with pods, though it is old', deployment(5, 1), set('n', 0), [set('a', 3, 3, 3, 4)], { a: 5 }],
    ['the new set when none has pods', deployment(2, 1), set('n', 0), [set('a', 0)], { n: 2 }],
    ['the youngest set when there is no new one', deployment(2, 1), undefined, [set('a', 0), set('b', 0)], { b: 2 }],
    ['nothing without sets', deployment(2, 1), undefined, [], {}],
    [
      'no old pods once all new ones are there',
      deployment(3, 1),
      set('n', 3, 3, 3, 4),
      [set('a', 1, 1, 3, 4)],
      { a: 0 },
    ],
    // A deployment of 10 pods with a surge of 3 has sets of 8 and 5. At 15 with a surge of 3 there are 5 more pods: 3
    // and 2.
    ['up in proportion', deployment(15, 3), set('n', 5, 0, 10, 13), [set('a', 8, 8, 10, 13)], { a: 11, n: 7 }],
    ['down in proportion', deployment(5, 3), set('n', 5, 0, 10, 13), [set('a', 8, 8, 10, 13)], { a: 5, n: 3 }],
    [
      'the rest to the largest',
      deployment(11, 0, 1),
      set('n', 4, 4, 10, 10),
      [set('a', 3, 3, 10, 10), set('b', 3, 3, 10, 10)],
      { n: 5, a: 3, b: 3 },
    ],
    ['down to nothing', deployment(0, 1), set('n', 2, 0, 3, 4), [set('a', 2, 2, 3, 4)], { n: 0, a: 0 }],
    [
      'by the status where sets have no number',
      { ...deployment(8), status: { replicas: 4 } },
      set('n', 2),
      [set('a', 2)],
      { n: 4, a: 4 },
    ],
  ];
  for (const [what, given, newSet, old, expected] of cases) {
    it(what, () => assert.deepEqual(sizes(scaledReplicas(given, newSet, old, keys)), expected));
  }
});
