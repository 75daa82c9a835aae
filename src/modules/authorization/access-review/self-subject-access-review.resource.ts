import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../base/machinery/authorizer.js';
import { unauthorizedError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type SelfSubjectAccessReview,
  selfSubjectAccessReview,
} from '../../../objects/apis/authorization/v1/subject-access-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { refuseBroken, reviewAccess } from './access-review.js';
import { attributesErrors, metadataErrors } from './access-review.validation.js';

/** `selfsubjectaccessreviews`: whether the sender may do something. */
export function selfSubjectAccessReviewResource(names: VendorNames, authorizer: Authorizer): ResourceDefinition {
  const group = groupName('authorization', names);
  return defineVirtualResource<SelfSubjectAccessReview & ApiObject>({
    group,
    resource: 'selfsubjectaccessreviews',
    singular: 'selfsubjectaccessreview',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    versions: [{ version: 'v1', type: selfSubjectAccessReview }],
    answer: async ({ user }, review) => {
      const { metadata, spec } = review;
      refuseBroken(group, [...attributesErrors(spec), ...metadataErrors(metadata, false)]);
      if (user === undefined) throw unauthorizedError();
      return { ...review, status: await reviewAccess(authorizer, user, spec, true) };
    },
  });
}
