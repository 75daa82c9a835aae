import type { MatchResources } from '../../../objects/apis/admissionregistration/v1/rule.types.js';
import type { MatchCriteria } from '../matching/request-matcher.js';

/** The criteria of a policy or a binding; a binding without rules applies to every resource of its policy. */
export function criteriaOf(resources: MatchResources | undefined, matchesWithoutRules: boolean): MatchCriteria {
  return {
    rules: resources?.resourceRules ?? [],
    excludeRules: resources?.excludeResourceRules,
    matchPolicy: resources?.matchPolicy,
    namespaceSelector: resources?.namespaceSelector,
    objectSelector: resources?.objectSelector,
    matchesWithoutRules,
  };
}
