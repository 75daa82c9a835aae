import {
  enumOf,
  type Infer,
  inline,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const operationType = enumOf('*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE');
export type OperationType = Infer<typeof operationType>;

export const scopeType = enumOf('*', 'Cluster', 'Namespaced');
export type ScopeType = Infer<typeof scopeType>;

export const rule = struct('admissionregistration.v1.Rule', {
  apiGroups: optional(1, list(string), { doc: 'Groups of the resources; * for all.' }),
  apiVersions: optional(2, list(string), { doc: 'Versions of the resources; * for all.' }),
  resources: optional(3, list(string)),
  scope: pointer(4, scopeType),
});
export type Rule = Infer<typeof rule>;

export const ruleWithOperations = struct('admissionregistration.v1.RuleWithOperations', {
  operations: optional(1, list(operationType)),
  rule: inline(2, rule),
});
export type RuleWithOperations = Infer<typeof ruleWithOperations>;

export const namedRuleWithOperations = struct(
  'admissionregistration.v1.NamedRuleWithOperations',
  {
    resourceNames: optional(1, list(string), { doc: 'Names of the objects; empty for all.' }),
    ruleWithOperations: inline(2, ruleWithOperations),
  },
  { mapType: 'atomic' },
);
export type NamedRuleWithOperations = Infer<typeof namedRuleWithOperations>;

export const matchPolicyType = enumOf('Equivalent', 'Exact');
export type MatchPolicyType = Infer<typeof matchPolicyType>;

export const matchResources = struct(
  'admissionregistration.v1.MatchResources',
  {
    namespaceSelector: pointer(1, labelSelector, { doc: 'Chooses namespaces by their labels.' }),
    objectSelector: pointer(2, labelSelector, { doc: 'Chooses objects by their labels.' }),
    resourceRules: optional(3, list(namedRuleWithOperations), { doc: 'Rules for resources.' }),
    excludeResourceRules: optional(4, list(namedRuleWithOperations)),
    matchPolicy: pointer(7, matchPolicyType, { doc: 'Whether other versions of the same resource match too.' }),
  },
  { mapType: 'atomic' },
);
export type MatchResources = Infer<typeof matchResources>;

export const failurePolicyType = enumOf('Fail', 'Ignore');
export type FailurePolicyType = Infer<typeof failurePolicyType>;

export const matchCondition = struct(
  'admissionregistration.v1.MatchCondition',
  {
    name: required(1, string),
    expression: required(2, string, { doc: 'CEL expression.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type MatchCondition = Infer<typeof matchCondition>;
