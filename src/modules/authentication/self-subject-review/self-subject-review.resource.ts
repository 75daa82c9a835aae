import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { unauthorizedError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type SelfSubjectReview,
  selfSubjectReview,
} from '../../../objects/apis/authentication/v1/token-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { userInfoBody } from '../user-info.js';

/** `selfsubjectreviews`: the sender's user as this server sees it, after impersonation. */
export function selfSubjectReviewResource(names: VendorNames, clock: Clock): ResourceDefinition {
  return defineVirtualResource<SelfSubjectReview & ApiObject>({
    group: groupName('authentication', names),
    resource: 'selfsubjectreviews',
    singular: 'selfsubjectreview',
    kind: 'SelfSubjectReview',
    namespaced: false,
    versions: [{ version: 'v1', type: selfSubjectReview }],
    answer: ({ user }, review) => {
      if (user === undefined) throw unauthorizedError();
      const metadata = { creationTimestamp: formatTime(clock.now()) };
      return { ...review, metadata, status: { userInfo: userInfoBody(user) } };
    },
  });
}
