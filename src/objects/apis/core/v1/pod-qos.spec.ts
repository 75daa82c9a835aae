import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podSpecOf } from '../../../../../test/support/pod-rules.js';
import { podQosClass } from './pod-qos.js';

const both = { cpu: '1', memory: '1Gi' };

/** Resources of the containers, and the expected class. */
const cases: readonly (readonly [resources: readonly object[], expected: string])[] = [
  [[{}], 'BestEffort'],
  [[{ limits: { cpu: '0' } }], 'BestEffort'],
  [[{ limits: { 'example.com/gpu': '1' } }], 'BestEffort'],
  [[{ requests: { cpu: '1' } }], 'Burstable'],
  [[{ limits: both, requests: both }, {}], 'Burstable'],
  [[{ limits: both, requests: { cpu: '500m', memory: '1Gi' } }], 'Burstable'],
  [[{ limits: both, requests: { cpu: '1', memory: '0' } }], 'Burstable'],
  [[{ limits: both, requests: { cpu: '1000m', memory: '1024Mi' } }], 'Guaranteed'],
  [
    [
      { limits: both, requests: both },
      { limits: both, requests: both },
    ],
    'Guaranteed',
  ],
];

describe('podQosClass', () => {
  for (const [resources, expected] of cases) {
    it(`gives ${expected} for ${JSON.stringify(resources)}`, () => {
      const containers = resources.map((r, i) => ({ name: `c${i}`, image: 'i', resources: r }));
      assert.equal(podQosClass(podSpecOf({ containers })), expected);
    });
  }

  it('counts the containers that run first', () => {
    const spec = podSpecOf({ initContainers: [{ name: 'i', image: 'i', resources: { requests: { cpu: '1' } } }] });
    assert.equal(podQosClass(spec), 'Burstable');
  });

  it('prefers the resources of the pod as a whole', () => {
    assert.equal(podQosClass(podSpecOf({ resources: { limits: both, requests: both } })), 'Guaranteed');
  });
});
