import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { endpointSliceResource } from './endpoint-slice/endpoint-slice.resource.js';

/** Resources of the group `discovery`. */
export function discoveryResources({ names }: GroupContext): ResourceDefinition[] {
  return [endpointSliceResource(names)];
}

@Module({})
export class DiscoveryModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of discoveryResources(context)) context.registry.register(definition);
  }
}
