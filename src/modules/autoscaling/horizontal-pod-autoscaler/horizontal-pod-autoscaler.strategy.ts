import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { validateHorizontalPodAutoscaler } from './horizontal-pod-autoscaler.validation.js';
import { cpuMetric, defaultCpuPercentage } from './hpa-conversion.js';

/** Fills in the defaults of an autoscaler. Changes the object. */
export function applyHpaDefaults({ spec }: HorizontalPodAutoscaler): void {
  spec.minReplicas ??= 1;
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(defaultCpuPercentage)];
  if (spec.behavior === undefined) return;
  spec.behavior.scaleUp = withDefaults(spec.behavior.scaleUp, {
    stabilizationWindowSeconds: 0,
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  });
  spec.behavior.scaleDown = withDefaults(spec.behavior.scaleDown, {
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  });
}

function withDefaults(rules: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  return { selectPolicy: 'Max', ...defaults, ...rules };
}

/** Rules of autoscalers. */
export const horizontalPodAutoscalerStrategy: Strategy<HorizontalPodAutoscaler> = {
  applyDefaults: applyHpaDefaults,

  prepareForCreate(_context, object) {
    object.status = { desiredReplicas: 0, currentMetrics: null };
  },

  validate: (_context, object) => validateHorizontalPodAutoscaler(object),
  validateUpdate: (_context, object, old) => validateHorizontalPodAutoscaler(object, old),
};
