import {
  type SelfSubjectAccessReview,
  selfSubjectAccessReview,
} from '../../../apis/authorization/v1/subject-access-review.types.js';
import type { ApiObject } from '../../../machinery/api-object.js';
import { unauthorizedError } from '../../../machinery/status-error.js';
import { groupName } from '../../../machinery/vendor.js';
import type { GroupContext } from '../../../registry/group-context.js';
import { defineResource, type ResourceDefinition } from '../../../registry/resource-definition.js';
import { refuseBroken, reviewAccess } from './access-review.js';
import { attributesErrors, metadataErrors } from './access-review.validation.js';

/** `selfsubjectaccessreviews`: whether the sender may do something. */
export function selfSubjectAccessReviewResource({
  names,
  security,
}: Pick<GroupContext, 'names' | 'security'>): ResourceDefinition {
  const group = groupName('authorization', names);
  return defineResource<SelfSubjectAccessReview & ApiObject>({
    group,
    resource: 'selfsubjectaccessreviews',
    singular: 'selfsubjectaccessreview',
    kind: 'SelfSubjectAccessReview',
    namespaced: false,
    versions: [{ version: 'v1', type: selfSubjectAccessReview }],
    verbs: ['create'],
    strategy: {},
    answer: async ({ user }, review) => {
      const { metadata, spec } = review;
      refuseBroken(group, [...attributesErrors(spec), ...metadataErrors(metadata, false)]);
      if (user === undefined) throw unauthorizedError();
      return { ...review, status: await reviewAccess(security.authorizer, user, spec) };
    },
  });
}
