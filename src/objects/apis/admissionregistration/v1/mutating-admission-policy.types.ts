import {
  always,
  enumOf,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { paramKind, paramRef, variable } from './admission-policy-param.types.js';
import { failurePolicyType, matchCondition, matchResources } from './rule.types.js';

export const patchType = enumOf('ApplyConfiguration', 'JSONPatch');
export type PatchType = Infer<typeof patchType>;

export const applyConfiguration = struct('admissionregistration.v1.ApplyConfiguration', {
  expression: optional(1, string, { doc: 'CEL expression.' }),
});
export type ApplyConfiguration = Infer<typeof applyConfiguration>;

export const jsonPatch = struct('admissionregistration.v1.JSONPatch', {
  expression: optional(1, string, { doc: 'CEL expression.' }),
});
export type JSONPatch = Infer<typeof jsonPatch>;

export const mutation = struct('admissionregistration.v1.Mutation', {
  patchType: required(2, patchType),
  applyConfiguration: pointer(3, applyConfiguration),
  jsonPatch: pointer(4, jsonPatch),
});
export type Mutation = Infer<typeof mutation>;

export const reinvocationPolicyType = enumOf('IfNeeded', 'Never');
export type ReinvocationPolicyType = Infer<typeof reinvocationPolicyType>;

export const mutatingAdmissionPolicySpec = struct('admissionregistration.v1.MutatingAdmissionPolicySpec', {
  paramKind: pointer(1, paramKind),
  matchConstraints: pointer(2, matchResources),
  variables: optional(3, list(variable)),
  mutations: optional(4, list(mutation)),
  failurePolicy: pointer(5, failurePolicyType, { doc: 'What happens when no usable answer comes: Fail or Ignore.' }),
  matchConditions: optional(6, list(matchCondition), {
    ...mergedBy('name'),
    doc: 'Expressions that must all be true for a request to match.',
  }),
  reinvocationPolicy: optional(7, reinvocationPolicyType),
});
export type MutatingAdmissionPolicySpec = Infer<typeof mutatingAdmissionPolicySpec>;

export const mutatingAdmissionPolicy = kind(
  { group: 'admissionregistration', version: 'v1', kind: 'MutatingAdmissionPolicy', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, mutatingAdmissionPolicySpec),
  },
  { doc: 'Rules in CEL that may change objects.' },
);
export type MutatingAdmissionPolicy = Infer<typeof mutatingAdmissionPolicy>;

export const mutatingAdmissionPolicyBindingSpec = struct(
  'admissionregistration.v1.MutatingAdmissionPolicyBindingSpec',
  {
    policyName: optional(1, string),
    paramRef: pointer(2, paramRef),
    matchResources: pointer(3, matchResources),
  },
);
export type MutatingAdmissionPolicyBindingSpec = Infer<typeof mutatingAdmissionPolicyBindingSpec>;

export const mutatingAdmissionPolicyBinding = kind(
  { group: 'admissionregistration', version: 'v1', kind: 'MutatingAdmissionPolicyBinding', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, mutatingAdmissionPolicyBindingSpec),
  },
  { doc: 'Puts a mutating policy into force.' },
);
export type MutatingAdmissionPolicyBinding = Infer<typeof mutatingAdmissionPolicyBinding>;

export const mutatingAdmissionPolicyBindingList = listKind(mutatingAdmissionPolicyBinding);
export type MutatingAdmissionPolicyBindingList = Infer<typeof mutatingAdmissionPolicyBindingList>;

export const mutatingAdmissionPolicyList = listKind(mutatingAdmissionPolicy);
export type MutatingAdmissionPolicyList = Infer<typeof mutatingAdmissionPolicyList>;
