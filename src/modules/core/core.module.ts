import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { bindingResource } from './binding/binding.resource.js';
import { componentStatusResource } from './component-status/component-status.resource.js';
import { configMapResource } from './config-map/config-map.resource.js';
import { endpointsResource } from './endpoints/endpoints.resource.js';
import { limitRangeResource } from './limit-range/limit-range.resource.js';
import { namespaceResource } from './namespace/namespace.resource.js';
import { nodeResource } from './node/node.resource.js';
import { persistentVolumeResource } from './persistent-volume/persistent-volume.resource.js';
import { persistentVolumeClaimResource } from './persistent-volume-claim/persistent-volume-claim.resource.js';
import { resourceQuotaResource } from './resource-quota/resource-quota.resource.js';
import { secretResource } from './secret/secret.resource.js';
import { serviceResource } from './service/service.resource.js';
import { serviceAccountResource } from './service-account/service-account.resource.js';
import { coreWorkloadResources } from './workloads.js';

/** Resources of the core group, events aside (those belong to two groups). */
export function coreResources(context: GroupContext): ResourceDefinition[] {
  const { names } = context;
  return [
    bindingResource(context),
    componentStatusResource(context),
    configMapResource(),
    endpointsResource(),
    limitRangeResource(names),
    namespaceResource(names),
    nodeResource(names),
    persistentVolumeResource(names),
    persistentVolumeClaimResource(names),
    resourceQuotaResource(names),
    secretResource(names),
    serviceResource(context),
    serviceAccountResource(context),
    ...coreWorkloadResources(context),
  ];
}

@Module({})
export class CoreModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of coreResources(context)) context.registry.register(definition);
  }
}
