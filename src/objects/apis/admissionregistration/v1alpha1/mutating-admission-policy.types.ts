import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import {
  mutatingAdmissionPolicyBinding as bindingV1,
  mutatingAdmissionPolicy as policyV1,
} from '../v1/mutating-admission-policy.types.js';
import { matchCondition, rule, ruleWithOperations } from '../v1/rule.types.js';

/** Declares a v1 type in v1alpha1. The types listed here stay those of v1. */
const inV1alpha1 = typesInVersion('v1alpha1', {
  MatchCondition: matchCondition,
  Rule: rule,
  RuleWithOperations: ruleWithOperations,
});

export const mutatingAdmissionPolicy = inV1alpha1(policyV1);
export const mutatingAdmissionPolicyBinding = inV1alpha1(bindingV1);

export const mutatingAdmissionPolicyList = listKind(mutatingAdmissionPolicy);
export const mutatingAdmissionPolicyBindingList = listKind(mutatingAdmissionPolicyBinding);
