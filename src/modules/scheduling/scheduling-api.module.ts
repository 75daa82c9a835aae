import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { compositePodGroupResource } from './composite-pod-group/composite-pod-group.resource.js';
import { podGroupResource } from './pod-group/pod-group.resource.js';
import { priorityClassResource } from './priority-class/priority-class.resource.js';
import { workloadResource } from './workload/workload.resource.js';

/** Resources of the group `scheduling`. */
export function schedulingResources(names: VendorNames): ResourceDefinition[] {
  return [
    priorityClassResource(names),
    workloadResource(names),
    podGroupResource(names),
    compositePodGroupResource(names),
  ];
}

/** The API group `scheduling`. */
@Module({})
export class SchedulingApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(SchedulingApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: schedulingResources,
    });
  }
}
