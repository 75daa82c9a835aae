import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { flowSchemaResource } from './flow-schema/flow-schema.resource.js';
import { priorityLevelConfigurationResource } from './priority-level-configuration/priority-level-configuration.resource.js';

/** Resources of the group `flowcontrol.apiserver`. */
export function flowControlResources({ names }: GroupContext): ResourceDefinition[] {
  return [flowSchemaResource(names), priorityLevelConfigurationResource(names)];
}

@Module({})
export class FlowControlModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of flowControlResources(context)) context.registry.register(definition);
  }
}
