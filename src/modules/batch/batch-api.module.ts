import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { cronJobResource } from './cron-job/cron-job.resource.js';
import { jobResource } from './job/job.resource.js';

/** The kinds of the `batch` group. */
export function batchResources(names: VendorNames): ResourceDefinition[] {
  return [cronJobResource(names), jobResource(names)];
}

/** The API group `batch`. */
@Module({})
export class BatchApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(BatchApiModule, host, { inject: [VENDOR_NAMES], useFactory: batchResources });
  }
}
