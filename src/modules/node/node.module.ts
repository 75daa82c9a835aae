import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { runtimeClassResource } from './runtime-class/runtime-class.resource.js';

/** Resources of the group `node`. */
export function nodeResources({ names }: GroupContext): ResourceDefinition[] {
  return [runtimeClassResource(names)];
}

@Module({})
export class NodeModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of nodeResources(context)) context.registry.register(definition);
  }
}
