import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { horizontalPodAutoscalerResource } from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.resource.js';

/** The kinds of the `autoscaling` group. */
export function autoscalingResources(names: VendorNames): ResourceDefinition[] {
  return [horizontalPodAutoscalerResource(names)];
}

/** The API group `autoscaling`. */
@Module({})
export class AutoscalingApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(AutoscalingApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: autoscalingResources,
    });
  }
}
