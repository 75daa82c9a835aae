import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { controllerRevisionResource } from './controller-revision/controller-revision.resource.js';
import { daemonSetResource } from './daemon-set/daemon-set.resource.js';
import { deploymentResource } from './deployment/deployment.resource.js';
import { replicaSetResource } from './replica-set/replica-set.resource.js';
import { statefulSetResource } from './stateful-set/stateful-set.resource.js';

/** The kinds of the `apps` group. */
export function appsResources(names: VendorNames): ResourceDefinition[] {
  return [
    controllerRevisionResource(names),
    daemonSetResource(names),
    deploymentResource(names),
    replicaSetResource(names),
    statefulSetResource(names),
  ];
}

/** The API group `apps`. */
@Module({})
export class AppsApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(AppsApiModule, host, { inject: [VENDOR_NAMES], useFactory: appsResources });
  }
}
