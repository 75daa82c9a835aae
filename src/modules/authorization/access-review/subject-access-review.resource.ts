import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
  subjectAccessReview,
} from '../../../objects/apis/authorization/v1/subject-access-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { refuseBroken, reviewAccess } from './access-review.js';
import { metadataErrors, subjectErrors } from './access-review.validation.js';

/** `subjectaccessreviews`: whether a user may do something. The right to create reviews covers every user. */
export function subjectAccessReviewResource(names: VendorNames, authorizer: Authorizer): ResourceDefinition {
  const group = groupName('authorization', names);
  return defineVirtualResource<SubjectAccessReview & ApiObject>({
    group,
    resource: 'subjectaccessreviews',
    singular: 'subjectaccessreview',
    kind: 'SubjectAccessReview',
    namespaced: false,
    versions: [{ version: 'v1', type: subjectAccessReview }],
    answer: async (_context, review) => {
      const { metadata, spec } = review;
      refuseBroken(group, [...subjectErrors(spec), ...metadataErrors(metadata, false)]);
      return { ...review, status: await reviewAccess(authorizer, subjectOf(spec), spec) };
    },
  });
}

/** The user that a review is about, with only the groups that it names. */
export function subjectOf({ user = '', uid = '', groups = [], extra = {} }: SubjectAccessReviewSpec): UserInfo {
  return { name: user, uid, groups, extra };
}
