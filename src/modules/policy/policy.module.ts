import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { podDisruptionBudgetResource } from './pod-disruption-budget/pod-disruption-budget.resource.js';
import { podSecurityPolicyResource } from './pod-security-policy/pod-security-policy.resource.js';

/** Resources of the group `policy`. */
export function policyResources({ names }: GroupContext): ResourceDefinition[] {
  return [podDisruptionBudgetResource(names), podSecurityPolicyResource(names)];
}

@Module({})
export class PolicyModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of policyResources(context)) context.registry.register(definition);
  }
}
