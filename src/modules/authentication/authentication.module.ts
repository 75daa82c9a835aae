import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { selfSubjectReviewResource } from './self-subject-review/self-subject-review.resource.js';
import { tokenReviewResource } from './token-review/token-review.resource.js';

/** Resources of the group `authentication`: questions about who somebody is. Nothing of them is stored. */
export function authenticationResources(context: GroupContext): ResourceDefinition[] {
  return [tokenReviewResource(context), selfSubjectReviewResource(context)];
}

@Module({})
export class AuthenticationModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of authenticationResources(context)) context.registry.register(definition);
  }
}
