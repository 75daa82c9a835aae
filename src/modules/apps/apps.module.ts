import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { controllerRevisionResource } from './controller-revision/controller-revision.resource.js';
import { daemonSetResource } from './daemon-set/daemon-set.resource.js';
import { deploymentResource } from './deployment/deployment.resource.js';
import { replicaSetResource } from './replica-set/replica-set.resource.js';
import { statefulSetResource } from './stateful-set/stateful-set.resource.js';

/** The kinds of the `apps` group. */
export function appsResources({ names }: GroupContext): ResourceDefinition[] {
  return [
    controllerRevisionResource(names),
    daemonSetResource(names),
    deploymentResource(names),
    replicaSetResource(names),
    statefulSetResource(names),
  ];
}

/** Registers the `apps` group. */
@Module({})
export class AppsModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of appsResources(context)) context.registry.register(definition);
  }
}
