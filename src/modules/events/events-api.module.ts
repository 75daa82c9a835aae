import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { coreEventResource, eventResource } from './event/event.resource.js';

/** The resources for events: two groups serve the same stored objects. */
export function eventsResources(names: VendorNames): ResourceDefinition[] {
  return [coreEventResource(names), eventResource(names)];
}

/** The API group `events`. */
@Module({})
export class EventsApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(EventsApiModule, host, { inject: [VENDOR_NAMES], useFactory: eventsResources });
  }
}
