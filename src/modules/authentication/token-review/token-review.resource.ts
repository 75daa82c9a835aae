import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FieldPath, tooMany } from '../../../base/machinery/field-error.js';
import { badRequestError, invalidError } from '../../../base/machinery/status-error.js';
import type { TokenReviewer } from '../../../base/machinery/tokens.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type TokenReview, tokenReview } from '../../../objects/apis/authentication/v1/token-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { userInfoBody } from '../user-info.js';

/** The most audiences of a review: a server has only a few names. */
const maxAudiences = 10_000;

/**
 * `tokenreviews`: other servers ask whose bearer token they received (specification 4.11 describes the asking side). An
 * invalid token does not fail the review: the answer reports it.
 */
export function tokenReviewResource(names: VendorNames, tokens: TokenReviewer): ResourceDefinition {
  const group = groupName('authentication', names);
  return defineVirtualResource<TokenReview & ApiObject>({
    group,
    resource: 'tokenreviews',
    singular: 'tokenreview',
    kind: 'TokenReview',
    namespaced: false,
    versions: [{ version: 'v1', type: tokenReview }],
    answer: async (context, review) => {
      const { token = '', audiences = [] } = review.spec;
      if (token === '') throw badRequestError('token is required for TokenReview in authentication');
      if (audiences.length > maxAudiences) {
        const errors = [tooMany(FieldPath.of('spec', 'audiences'), audiences.length, maxAudiences)];
        throw invalidError({ group, kind: 'TokenReview' }, '', errors);
      }
      const result = await tokens.review(token, audiences, context.signal);
      return {
        ...review,
        status: result.authenticated
          ? { authenticated: true, user: userInfoBody(result.user), audiences: [...result.audiences] }
          : { user: {}, error: result.error },
      };
    },
  });
}
