import { Inject, Module } from '@nestjs/common';
import { GROUP_CONTEXT, type GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { localSubjectAccessReviewResource } from './access-review/local-subject-access-review.resource.js';
import { selfSubjectAccessReviewResource } from './access-review/self-subject-access-review.resource.js';
import { subjectAccessReviewResource } from './access-review/subject-access-review.resource.js';
import { selfSubjectRulesReviewResource } from './rules-review/self-subject-rules-review.resource.js';

/** Resources of the group `authorization`: questions about what somebody may do. Nothing of them is stored. */
export function authorizationResources(context: GroupContext): ResourceDefinition[] {
  return [
    localSubjectAccessReviewResource(context),
    selfSubjectAccessReviewResource(context),
    subjectAccessReviewResource(context),
    selfSubjectRulesReviewResource(context),
  ];
}

@Module({})
export class AuthorizationModule {
  constructor(@Inject(GROUP_CONTEXT) context: GroupContext) {
    for (const definition of authorizationResources(context)) context.registry.register(definition);
  }
}
