import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { coreEventResource, eventResource } from './event/event.resource.js';

/** Events, which two groups serve from one place in storage. */
export function eventsResources({ names }: GroupContext): ResourceDefinition[] {
  return [coreEventResource(names), eventResource(names)];
}

@Module({})
export class EventsModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of eventsResources(context)) context.registry.register(definition);
  }
}
