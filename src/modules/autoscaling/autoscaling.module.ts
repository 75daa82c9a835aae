import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { horizontalPodAutoscalerResource } from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.resource.js';

/** The kinds of the `autoscaling` group. */
export function autoscalingResources({ names }: GroupContext): ResourceDefinition[] {
  return [horizontalPodAutoscalerResource(names)];
}

/** Registers the `autoscaling` group. */
@Module({})
export class AutoscalingModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of autoscalingResources(context)) context.registry.register(definition);
  }
}
