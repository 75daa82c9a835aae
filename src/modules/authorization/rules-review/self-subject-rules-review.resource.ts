import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { RuleList, RuleResolver } from '../../../base/machinery/authorizer.js';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import { badRequestError, unauthorizedError } from '../../../base/machinery/status-error.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import { eachInSteps, inTurns, type Steps } from '../../../base/machinery/turns.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type SelfSubjectRulesReview,
  type SubjectRulesReviewStatus,
  selfSubjectRulesReview,
} from '../../../objects/apis/authorization/v1/subject-rules-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';

/**
 * `selfsubjectrulesreviews`: the sender's rights in a namespace, for user interfaces. The list does not decide
 * anything: it lacks the rules of modules that can't enumerate them.
 */
export function selfSubjectRulesReviewResource(names: VendorNames, rules: RuleResolver): ResourceDefinition {
  return defineVirtualResource<SelfSubjectRulesReview & ApiObject>({
    group: groupName('authorization', names),
    resource: 'selfsubjectrulesreviews',
    singular: 'selfsubjectrulesreview',
    kind: 'SelfSubjectRulesReview',
    namespaced: false,
    versions: [{ version: 'v1', type: selfSubjectRulesReview }],
    answer: async ({ user }, review) => {
      const namespace = review.spec.namespace ?? '';
      if (namespace === '') throw badRequestError('no namespace on request');
      if (user === undefined) throw unauthorizedError();
      // Each review takes turns with other requests while it looks up and converts the rules and encodes the response.
      const tenant = tenantOf(user.name);
      await longPieces.turn(tenant);
      const status = await inTurns(statusOf(await rules.rulesFor(user, namespace)));
      await longPieces.turn(tenant);
      return { ...review, metadata: {}, spec: {}, status };
    },
  });
}

/**
 * Works in steps, as there may be many thousand rules. The lists of a rule belong to its role: they must not be
 * changed.
 */
function* statusOf(list: RuleList): Steps<SubjectRulesReviewStatus> {
  const resourceRules: SubjectRulesReviewStatus['resourceRules'] = [];
  const nonResourceRules: SubjectRulesReviewStatus['nonResourceRules'] = [];
  yield* eachInSteps(list.resourceRules, ({ verbs, apiGroups, resources, resourceNames }) => {
    const rule = { verbs, apiGroups, resources, ...(resourceNames.length > 0 && { resourceNames }) };
    resourceRules.push(rule as (typeof resourceRules)[number]);
  });
  yield* eachInSteps(list.nonResourceRules, ({ verbs, nonResourceURLs }) => {
    nonResourceRules.push({ verbs, nonResourceURLs } as (typeof nonResourceRules)[number]);
  });
  const { incomplete, evaluationError } = list;
  return { resourceRules, nonResourceRules, incomplete, ...(evaluationError === '' ? {} : { evaluationError }) };
}
