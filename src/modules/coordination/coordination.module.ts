import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { leaseResource } from './lease/lease.resource.js';

/** Resources of the group `coordination`. */
export function coordinationResources({ names }: GroupContext): ResourceDefinition[] {
  return [leaseResource(names)];
}

@Module({})
export class CoordinationModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of coordinationResources(context)) context.registry.register(definition);
  }
}
