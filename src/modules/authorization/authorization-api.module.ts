import { type DynamicModule, Module } from '@nestjs/common';
import { AUTHORIZER, type Authorizer, RULE_RESOLVER, type RuleResolver } from '../../base/machinery/authorizer.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { localSubjectAccessReviewResource } from './access-review/local-subject-access-review.resource.js';
import { selfSubjectAccessReviewResource } from './access-review/self-subject-access-review.resource.js';
import { subjectAccessReviewResource } from './access-review/subject-access-review.resource.js';
import { selfSubjectRulesReviewResource } from './rules-review/self-subject-rules-review.resource.js';

/** Resources of the group `authorization`: reviews of the rights of a user. None of them are stored. */
export function authorizationResources(
  names: VendorNames,
  authorizer: Authorizer,
  rules: RuleResolver,
): ResourceDefinition[] {
  return [
    localSubjectAccessReviewResource(names, authorizer),
    selfSubjectAccessReviewResource(names, authorizer),
    subjectAccessReviewResource(names, authorizer),
    selfSubjectRulesReviewResource(names, rules),
  ];
}

/** The API group `authorization`. */
@Module({})
export class AuthorizationApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(AuthorizationApiModule, host, {
      inject: [VENDOR_NAMES, AUTHORIZER, RULE_RESOLVER],
      useFactory: authorizationResources,
    });
  }
}
