import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { cronJobResource } from './cron-job/cron-job.resource.js';
import { jobResource } from './job/job.resource.js';

/** The kinds of the `batch` group. */
export function batchResources({ names }: GroupContext): ResourceDefinition[] {
  return [cronJobResource(names), jobResource(names)];
}

/** Registers the `batch` group. */
@Module({})
export class BatchModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of batchResources(context)) context.registry.register(definition);
  }
}
