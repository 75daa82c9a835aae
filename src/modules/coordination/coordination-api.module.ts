import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { leaseResource } from './lease/lease.resource.js';
import { leaseCandidateResource } from './lease-candidate/lease-candidate.resource.js';

/** Resources of the group `coordination`. */
export function coordinationResources(names: VendorNames): ResourceDefinition[] {
  return [leaseResource(names), leaseCandidateResource(names)];
}

/** The API group `coordination`. */
@Module({})
export class CoordinationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(CoordinationApiModule, host, {
      inject: [VENDOR_NAMES],
      useFactory: coordinationResources,
    });
  }
}
