import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FilterName } from './filter.js';
import { helpsByBeingGone, helpsByBeingThere } from './hints.js';
import { type SamplePod, samplePod } from './testing/sample-cluster.js';

const topologyKey = 'kubernetes.io/hostname';
const labelSelector = { matchLabels: { app: 'web' } };
const required = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }] };
const near = { affinity: { podAffinity: required } };
const far = { affinity: { podAntiAffinity: required } };
const spread = {
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector }],
};
const web = { labels: { app: 'web' } };
const ending = { ...web, metadata: { deletionTimestamp: 't' } };

type Case = readonly [
  what: string,
  waiting: SamplePod,
  by: FilterName,
  other: SamplePod,
  there: boolean,
  gone: boolean,
];

const cases: readonly Case[] = [
  ['a pod to be near to', near, 'InterPodAffinity', web, true, false],
  ['another pod', near, 'InterPodAffinity', {}, false, false],
  ['a pod to be far from', far, 'InterPodAffinity', web, false, true],
  ['a pod that minds the waiting one', web, 'InterPodAffinity', far, false, true],
  ['a pod that minds others', {}, 'InterPodAffinity', far, false, false],
  ['a pod of the same group', spread, 'PodTopologySpread', web, true, true],
  ['a pod of the same group that ends', spread, 'PodTopologySpread', ending, true, true],
  ['a pod of another group', spread, 'PodTopologySpread', {}, false, false],
  ['a pod of another namespace', spread, 'PodTopologySpread', { ...web, namespace: 'other' }, false, false],
  ['a pod that was refused for another reason', { ...near, ...spread }, 'NodeResourcesFit', web, false, false],
];

describe('hints', () => {
  for (const [what, waiting, by, other, there, gone] of cases) {
    it(what, () => {
      const queued = { info: samplePod(waiting), attempts: 1, refusedBy: new Set([by]) };
      const labels = () => undefined;
      assert.equal(helpsByBeingThere(queued, samplePod(other), labels), there);
      assert.equal(helpsByBeingGone(queued, samplePod(other), labels), gone);
    });
  }
});
