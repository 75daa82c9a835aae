import { type DynamicModule, Module } from '@nestjs/common';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { podDisruptionBudgetResource } from './pod-disruption-budget/pod-disruption-budget.resource.js';
import { podSecurityPolicyResource } from './pod-security-policy/pod-security-policy.resource.js';

/** Resources of the group `policy`. */
export function policyResources(names: VendorNames): ResourceDefinition[] {
  return [podDisruptionBudgetResource(names), podSecurityPolicyResource(names)];
}

/** The API group `policy`. */
@Module({})
export class PolicyApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(PolicyApiModule, host, { inject: [VENDOR_NAMES], useFactory: policyResources });
  }
}
