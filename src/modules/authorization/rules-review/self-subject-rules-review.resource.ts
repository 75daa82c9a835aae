import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { RuleList, RuleResolver } from '../../../base/machinery/authorizer.js';
import { badRequestError, unauthorizedError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type SelfSubjectRulesReview,
  type SubjectRulesReviewStatus,
  selfSubjectRulesReview,
} from '../../../objects/apis/authorization/v1/subject-rules-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';

/**
 * `selfsubjectrulesreviews`: the sender's rights in a namespace, for user interfaces. The list is no decision: modules
 * that can't enumerate their rules leave it incomplete.
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
      return { ...review, spec: {}, status: statusOf(await rules.rulesFor(user, namespace)) };
    },
  });
}

function statusOf({
  resourceRules,
  nonResourceRules,
  incomplete,
  evaluationError,
}: RuleList): SubjectRulesReviewStatus {
  return {
    resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs: [...verbs],
      apiGroups: [...apiGroups],
      resources: [...resources],
      ...(resourceNames.length === 0 ? {} : { resourceNames: [...resourceNames] }),
    })),
    nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs }) => ({
      verbs: [...verbs],
      nonResourceURLs: [...nonResourceURLs],
    })),
    incomplete,
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
}
