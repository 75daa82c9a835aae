import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { priorityClassResource } from './priority-class/priority-class.resource.js';

/** Resources of the group `scheduling`. */
export function schedulingResources({ names }: GroupContext): ResourceDefinition[] {
  return [priorityClassResource(names)];
}

@Module({})
export class SchedulingModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of schedulingResources(context)) context.registry.register(definition);
  }
}
