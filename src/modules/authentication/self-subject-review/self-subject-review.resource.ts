import { type SelfSubjectReview, selfSubjectReview } from '../../../apis/authentication/v1/token-review.types.js';
import type { ApiObject } from '../../../machinery/api-object.js';
import { unauthorizedError } from '../../../machinery/status-error.js';
import { groupName, type VendorNames } from '../../../machinery/vendor.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../registry/resource-definition.js';
import { userInfoBody } from '../user-info.js';

/** `selfsubjectreviews`: the user that the sender is to this server, after impersonation. */
export function selfSubjectReviewResource(names: VendorNames): ResourceDefinition {
  return defineVirtualResource<SelfSubjectReview & ApiObject>({
    group: groupName('authentication', names),
    resource: 'selfsubjectreviews',
    singular: 'selfsubjectreview',
    kind: 'SelfSubjectReview',
    namespaced: false,
    versions: [{ version: 'v1', type: selfSubjectReview }],
    answer: ({ user }, review) => {
      if (user === undefined) throw unauthorizedError();
      return { ...review, status: { userInfo: userInfoBody(user) } };
    },
  });
}
