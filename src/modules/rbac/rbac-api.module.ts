import { type DynamicModule, Module } from '@nestjs/common';
import { AUTHORIZER, type Authorizer, RULE_RESOLVER, type RuleResolver } from '../../base/machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { clusterRoleResource, roleResource } from './role/role.resource.js';
import { clusterRoleBindingResource, roleBindingResource } from './role-binding/role-binding.resource.js';

/** Resources of the group `rbac.authorization`. */
export function rbacResources(
  names: VendorNames,
  authorizer: Authorizer,
  rules: RuleResolver,
  { registry, storage }: ResourceStores,
): ResourceDefinition[] {
  const context = { names, authorizer, rules, registry, storage };
  return [
    roleResource(context),
    clusterRoleResource(context),
    roleBindingResource(context),
    clusterRoleBindingResource(context),
  ];
}

/** The API group `rbac`. */
@Module({})
export class RbacApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(RbacApiModule, host, {
      inject: [VENDOR_NAMES, AUTHORIZER, RULE_RESOLVER, ResourceStores],
      useFactory: rbacResources,
    });
  }
}
