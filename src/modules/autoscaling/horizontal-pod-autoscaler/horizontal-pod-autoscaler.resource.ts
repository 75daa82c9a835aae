import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscaler,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { horizontalPodAutoscalerColumns } from './horizontal-pod-autoscaler.columns.js';
import { applyHpaDefaults, horizontalPodAutoscalerStrategy } from './horizontal-pod-autoscaler.strategy.js';
import { validateHorizontalPodAutoscalerStatus } from './horizontal-pod-autoscaler.validation.js';
import { servedV1, servedV2beta1, servedV2beta2 } from './hpa-conversion.js';

/** Autoscalers, which set the number of replicas by metrics. */
export function horizontalPodAutoscalerResource(names: VendorNames): ResourceDefinition {
  return defineResource<HorizontalPodAutoscaler>({
    group: groupName('autoscaling', names),
    resource: 'horizontalpodautoscalers',
    singular: 'horizontalpodautoscaler',
    kind: 'HorizontalPodAutoscaler',
    namespaced: true,
    shortNames: ['hpa'],
    categories: ['all'],
    versions: [
      { version: 'v2', type: horizontalPodAutoscaler },
      servedV1(names),
      servedV2beta2(names, (object) => applyHpaDefaults(object as unknown as HorizontalPodAutoscaler)),
      servedV2beta1(names),
    ],
    strategy: horizontalPodAutoscalerStrategy,
    strategyOptions: { generation: 'spec' },
    columns: horizontalPodAutoscalerColumns,
    subresources: [
      statusSubresource<HorizontalPodAutoscaler>({
        validate: (object) => validateHorizontalPodAutoscalerStatus(object),
      }),
    ],
  });
}
