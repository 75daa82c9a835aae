import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { clusterRoleResource, roleResource } from './role/role.resource.js';
import { clusterRoleBindingResource, roleBindingResource } from './role-binding/role-binding.resource.js';

/** Resources of the group `rbac.authorization`. */
export function rbacResources(context: GroupContext): ResourceDefinition[] {
  return [
    roleResource(context),
    clusterRoleResource(context),
    roleBindingResource(context),
    clusterRoleBindingResource(context),
  ];
}

@Module({})
export class RbacModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of rbacResources(context)) context.registry.register(definition);
  }
}
