import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredPod } from '../frame/indexes.js';
import type { PodMetric } from './pod-metrics.js';
import { replicasByAverage, replicasByShare, replicasByUtilization, replicasByValue } from './replica-count.js';

const now = Date.parse('2030-01-01T01:00:00Z');
const times = { cpuInitializationMs: 300_000, initialReadinessMs: 30_000 };
const tolerances = { up: 0.1, down: 0.1 };

interface PodForm {
  readonly phase?: string;
  readonly deleted?: boolean;
  /** How many seconds ago the pod started. */
  readonly started?: number;
  readonly ready?: readonly [status: string, secondsAgo: number];
}

function ago(seconds: number): string {
  return new Date(now - seconds * 1000).toISOString();
}

function podOf(form: PodForm, i: number): StoredPod {
  const { phase = 'Running', deleted = false, started = 3600, ready = ['True', 3590] } = form;
  return {
    metadata: { name: `p${i}`, ...(deleted ? { deletionTimestamp: ago(1) } : {}) },
    spec: {},
    status: {
      phase,
      startTime: ago(started),
      conditions: [{ type: 'Ready', status: ready[0], lastTransitionTime: ago(ready[1]) }],
    },
  } as unknown as StoredPod;
}

function scaled(forms: readonly PodForm[], currentReplicas = forms.length) {
  return { pods: forms.map(podOf), currentReplicas, tolerances, times, now };
}

/** Metrics with these values, in thousandths, by position; undefined: the pod has none. */
function metricsOf(values: readonly (number | undefined)[]): Map<string, PodMetric> {
  const entries = values.flatMap((milli, i) =>
    milli === undefined ? [] : [[`p${i}`, { milli, at: now, windowMs: 30_000 }] as const],
  );
  return new Map(entries);
}

const plain: PodForm = {};

describe('replicasByUtilization', () => {
  const fresh: PodForm = { started: 20, ready: ['False', 20] };
  const justReady: PodForm = { started: 60, ready: ['True', 10] };
  const longReady: PodForm = { started: 200, ready: ['True', 100] };
  const neverReady: PodForm = { started: 3600, ready: ['False', 3595] };
  const wasReady: PodForm = { started: 3600, ready: ['False', 60] };
  for (const [name, forms, values, target, replicas, utilization] of [
    ['goes up with the use', [plain, plain], [900, 700], 40, 4, 80],
    ['goes down with the use', [plain, plain, plain, plain], [100, 100, 100, 100], 50, 1, 10],
    ['stays within the tolerance', [plain, plain], [540, 540], 50, 2, 54],
    ['leaves the tolerance', [plain, plain], [560, 560], 50, 3, 56],
    ['takes missing pods as idle when it goes up', [plain, plain, plain], [1000, 1000, undefined], 50, 4, 100],
    [
      'takes missing pods as busy when it goes down',
      [plain, plain, plain, plain],
      [100, 100, undefined, undefined],
      60,
      4,
      10,
    ],
    ['does not turn because of missing pods', [plain, plain], [400, undefined], 50, 2, 40],
    ['takes pods that start as idle when it goes up', [plain, fresh], [1000, 1000], 50, 2, 100],
    ['leaves pods that start out when it goes down', [plain, fresh], [100, 1000], 50, 1, 10],
    ['leaves out a pod that was not ready all the time', [plain, justReady], [100, 1000], 50, 1, 10],
    ['counts a young pod that was ready all the time', [plain, longReady], [800, 800], 50, 4, 80],
    ['leaves out a pod that has never been ready', [plain, neverReady], [100, 1000], 50, 1, 10],
    ['counts a pod that has been ready', [plain, wasReady], [800, 800], 50, 4, 80],
    ['leaves out pending pods', [plain, { phase: 'Pending' }], [100, undefined], 50, 1, 10],
    ['ignores failed and deleted pods', [plain, { phase: 'Failed' }, { deleted: true }], [800, 800, 800], 40, 2, 80],
  ] as const) {
    it(name, () => {
      const of = scaled(forms as readonly PodForm[]);
      const requests = new Map(of.pods.map(({ metadata }) => [metadata.name ?? '', 1000]));
      const counted = replicasByUtilization(of, metricsOf(values), requests, target, true);
      assert.deepEqual([counted.replicas, counted.utilization], [replicas, utilization]);
    });
  }

  it('does not mind the start of pods for other resources', () => {
    const of = scaled([plain, fresh]);
    const requests = new Map([
      ['p0', 1000],
      ['p1', 1000],
    ]);
    assert.equal(replicasByUtilization(of, metricsOf([800, 800]), requests, 40, false).replicas, 4);
  });

  for (const [name, forms, values, message] of [
    ['no pods', [], [], /no pods returned by selector while calculating replica count/],
    ['only pods that start', [fresh], [100], /did not receive metrics for targeted pods \(pods might be unready\)/],
    ['metrics of other pods', [plain], [undefined, 100], /no metrics returned matched known pods/],
  ] as const) {
    it(`fails with ${name}`, () => {
      const of = scaled(forms as readonly PodForm[]);
      const requests = new Map(of.pods.map(({ metadata }) => [metadata.name ?? '', 1000]));
      assert.throws(() => replicasByUtilization(of, metricsOf(values), requests, 50, true), message);
    });
  }
});

describe('replicasByAverage', () => {
  it('divides by the number of pods with values', () => {
    assert.deepEqual(replicasByAverage(scaled([plain, plain]), metricsOf([30_000, 10_000]), 10_000, false), {
      replicas: 4,
      averageMilli: 20_000,
    });
  });

  it('takes missing pods as they should be when it goes down', () => {
    const of = scaled([plain, plain, plain]);
    assert.equal(replicasByAverage(of, metricsOf([1000, 1000, undefined]), 10_000, false).replicas, 2);
  });
});

describe('replicasByValue and replicasByShare', () => {
  for (const [forms, milli, target, replicas] of [
    [[plain, plain], 30_000, 10_000, 6],
    [[plain, plain], 10_500, 10_000, 2],
    [[plain, { ready: ['False', 10] }], 30_000, 10_000, 3],
    [[], 25_000, 10_000, 3],
  ] as const) {
    it(`asks for ${replicas} for ${milli} of ${target} with ${forms.length} pods`, () => {
      assert.equal(replicasByValue(scaled(forms as readonly PodForm[]), milli, target), replicas);
    });
  }

  for (const [milli, target, status, replicas, average] of [
    [95_000, 10_000, 10, 10, 9_500],
    [55_000, 10_000, 10, 6, 5_500],
    [101_000, 10_000, 2, 11, 50_500],
    [25_000, 10_000, 0, 3, 0],
  ] as const) {
    it(`shares ${milli} by ${target}, with ${status} replicas, among ${replicas}`, () => {
      assert.deepEqual(replicasByShare(tolerances, milli, target, status), { replicas, averageMilli: average });
    });
  }
});
