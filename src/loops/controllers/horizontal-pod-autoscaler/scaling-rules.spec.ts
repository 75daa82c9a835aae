import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HorizontalPodAutoscalerSpec } from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import { limitReplicas, type ScalingHistory } from './scaling-rules.js';

const now = 1_000_000;
const nothing: ScalingHistory = { recommendations: [], ups: [], downs: [] };

interface Case {
  readonly name: string;
  readonly current: number;
  readonly desired: number;
  readonly behavior?: HorizontalPodAutoscalerSpec['behavior'];
  readonly history?: Partial<ScalingHistory>;
  readonly min?: number;
  readonly max?: number;
  readonly replicas: number;
  readonly able?: string;
  readonly limit?: string;
}

const secondsAgo = (seconds: number, replicas: number) => ({ at: now - seconds * 1000, replicas });
const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds }) as const;
const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds }) as const;

const cases: readonly Case[] = [
  { name: 'takes what is in the range', current: 3, desired: 5, replicas: 5 },
  { name: 'does not go above the maximum', current: 8, desired: 30, replicas: 10, limit: 'TooManyReplicas' },
  { name: 'does not go below the minimum', current: 3, desired: 1, min: 2, replicas: 2, limit: 'TooFewReplicas' },
  { name: 'goes up to twice as many at once', current: 4, desired: 30, max: 50, replicas: 8, limit: 'ScaleUpLimit' },
  { name: 'goes up to four at once', current: 1, desired: 30, max: 50, replicas: 4, limit: 'ScaleUpLimit' },
  {
    name: 'goes down only as far as everything within five minutes',
    current: 8,
    desired: 2,
    history: { recommendations: [secondsAgo(400, 9), secondsAgo(299, 6), secondsAgo(10, 3)] },
    replicas: 6,
    able: 'ScaleDownStabilized',
  },
  {
    name: 'goes up at once, whatever was wanted before',
    current: 2,
    desired: 4,
    history: { recommendations: [secondsAgo(10, 1)] },
    replicas: 4,
  },
  {
    name: 'waits with going up for its window',
    current: 2,
    desired: 8,
    behavior: { scaleUp: { stabilizationWindowSeconds: 60 } },
    history: { recommendations: [secondsAgo(61, 1), secondsAgo(30, 5)] },
    replicas: 5,
    able: 'ScaleUpStabilized',
  },
  {
    name: 'stays between what was wanted lately',
    current: 5,
    desired: 6,
    behavior: { scaleUp: { stabilizationWindowSeconds: 60 } },
    history: { recommendations: [secondsAgo(30, 3)] },
    replicas: 5,
    able: 'ScaleUpStabilized',
  },
  {
    name: 'goes down at once without a window',
    current: 8,
    desired: 2,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0, policies: [percent(100)] } },
    history: { recommendations: [secondsAgo(5, 8)] },
    replicas: 2,
  },
  {
    name: 'goes up by the greatest policy',
    current: 10,
    desired: 100,
    max: 100,
    behavior: { scaleUp: { selectPolicy: 'Max', policies: [pods(4), percent(50)] } },
    replicas: 15,
    limit: 'ScaleUpLimit',
  },
  {
    name: 'goes up by the smallest policy',
    current: 10,
    desired: 100,
    max: 100,
    behavior: { scaleUp: { selectPolicy: 'Min', policies: [pods(4), percent(50)] } },
    replicas: 14,
    limit: 'ScaleUpLimit',
  },
  {
    name: 'counts what it went up in the period',
    current: 12,
    desired: 100,
    max: 100,
    behavior: { scaleUp: { policies: [pods(4)] } },
    history: { ups: [secondsAgo(61, 5), secondsAgo(30, 2)] },
    replicas: 14,
    limit: 'ScaleUpLimit',
  },
  {
    name: 'does not go down because it may not go up',
    current: 12,
    desired: 100,
    max: 100,
    behavior: { scaleUp: { policies: [pods(1)] } },
    history: { ups: [secondsAgo(30, 4)] },
    replicas: 12,
    limit: 'ScaleUpLimit',
  },
  {
    name: 'goes up no more where that is disabled',
    current: 3,
    desired: 9,
    behavior: { scaleUp: { selectPolicy: 'Disabled', policies: [pods(4)] } },
    replicas: 3,
    limit: 'ScaleUpLimit',
  },
  {
    name: 'goes down by the greatest policy',
    current: 100,
    desired: 1,
    max: 200,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0, policies: [pods(5), percent(10)] } },
    replicas: 90,
    limit: 'ScaleDownLimit',
  },
  {
    name: 'goes down by the smallest policy',
    current: 100,
    desired: 1,
    max: 200,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Min', policies: [pods(5), percent(10)] } },
    replicas: 95,
    limit: 'ScaleDownLimit',
  },
  {
    name: 'counts what it went down in the period',
    current: 95,
    desired: 1,
    max: 200,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0, policies: [percent(10)] } },
    history: { downs: [secondsAgo(30, 5)] },
    replicas: 90,
    limit: 'ScaleDownLimit',
  },
  {
    name: 'goes down no more where that is disabled',
    current: 5,
    desired: 1,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Disabled' } },
    replicas: 5,
    limit: 'ScaleDownLimit',
  },
  {
    name: 'keeps the minimum also by its rules',
    current: 5,
    desired: 1,
    min: 3,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0, policies: [percent(100)] } },
    replicas: 3,
    limit: 'TooFewReplicas',
  },
];

describe('limitReplicas', () => {
  for (const { name, current, desired, behavior, history, min = 1, max = 10, replicas, able, limit } of cases) {
    it(name, () => {
      const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
      const spec: HorizontalPodAutoscalerSpec = {
        scaleTargetRef: target,
        minReplicas: min,
        maxReplicas: max,
        ...(behavior === undefined ? {} : { behavior }),
      };
      const all = { ...nothing, ...history };
      const limited = limitReplicas({ spec, current, desired, history: all, now, downscaleMs: 300_000 });
      assert.equal(limited.replicas, replicas);
      assert.equal(limited.able.reason, able ?? 'ReadyForNewScale');
      assert.equal(limited.limit.reason, limit ?? 'DesiredWithinRange');
      assert.equal(limited.isLimited, limit !== undefined);
    });
  }
});
