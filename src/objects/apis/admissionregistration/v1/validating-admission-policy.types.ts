import {
  always,
  enumOf,
  type Infer,
  int64,
  keyedBy,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { statusReason } from '../../meta/v1/status.types.js';
import { paramKind, paramRef, variable } from './admission-policy-param.types.js';
import { failurePolicyType, matchCondition, matchResources } from './rule.types.js';

export const validation = struct('admissionregistration.v1.Validation', {
  expression: required(1, string, { protoName: 'Expression', doc: 'CEL expression.' }),
  message: optional(2, string),
  reason: pointer(3, statusReason),
  messageExpression: optional(4, string, { doc: 'CEL expression that makes the message.' }),
});
export type Validation = Infer<typeof validation>;

export const auditAnnotation = struct('admissionregistration.v1.AuditAnnotation', {
  key: required(1, string),
  valueExpression: required(2, string),
});
export type AuditAnnotation = Infer<typeof auditAnnotation>;

export const validatingAdmissionPolicySpec = struct('admissionregistration.v1.ValidatingAdmissionPolicySpec', {
  paramKind: pointer(1, paramKind),
  matchConstraints: pointer(2, matchResources),
  validations: optional(3, list(validation)),
  failurePolicy: pointer(4, failurePolicyType, { doc: 'What happens when no usable answer comes: Fail or Ignore.' }),
  auditAnnotations: optional(5, list(auditAnnotation)),
  matchConditions: optional(6, list(matchCondition), {
    ...mergedBy('name'),
    doc: 'Expressions that must all be true for a request to match.',
  }),
  variables: optional(7, list(variable), mergedBy('name')),
});
export type ValidatingAdmissionPolicySpec = Infer<typeof validatingAdmissionPolicySpec>;

export const expressionWarning = struct('admissionregistration.v1.ExpressionWarning', {
  fieldRef: required(2, string),
  warning: required(3, string),
});
export type ExpressionWarning = Infer<typeof expressionWarning>;

export const typeChecking = struct('admissionregistration.v1.TypeChecking', {
  expressionWarnings: optional(1, list(expressionWarning)),
});
export type TypeChecking = Infer<typeof typeChecking>;

export const validatingAdmissionPolicyStatus = struct('admissionregistration.v1.ValidatingAdmissionPolicyStatus', {
  observedGeneration: optional(1, int64, { doc: 'Generation of the object that this status is about.' }),
  typeChecking: pointer(2, typeChecking),
  conditions: optional(3, list(condition), { ...keyedBy('type'), doc: 'Aspects of the state, each with its reason.' }),
});
export type ValidatingAdmissionPolicyStatus = Infer<typeof validatingAdmissionPolicyStatus>;

export const validatingAdmissionPolicy = kind(
  { group: 'admissionregistration', version: 'v1', kind: 'ValidatingAdmissionPolicy', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, validatingAdmissionPolicySpec),
    status: always(3, validatingAdmissionPolicyStatus),
  },
  { doc: 'Rules in CEL that may refuse requests.' },
);
export type ValidatingAdmissionPolicy = Infer<typeof validatingAdmissionPolicy>;

export const validationAction = enumOf('Audit', 'Deny', 'Warn');
export type ValidationAction = Infer<typeof validationAction>;

export const validatingAdmissionPolicyBindingSpec = struct(
  'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec',
  {
    policyName: optional(1, string),
    paramRef: pointer(2, paramRef),
    matchResources: pointer(3, matchResources),
    validationActions: optional(4, list(validationAction), { listType: 'set' }),
  },
);
export type ValidatingAdmissionPolicyBindingSpec = Infer<typeof validatingAdmissionPolicyBindingSpec>;

export const validatingAdmissionPolicyBinding = kind(
  { group: 'admissionregistration', version: 'v1', kind: 'ValidatingAdmissionPolicyBinding', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, validatingAdmissionPolicyBindingSpec),
  },
  { doc: 'Puts a validating policy into force.' },
);
export type ValidatingAdmissionPolicyBinding = Infer<typeof validatingAdmissionPolicyBinding>;

export const validatingAdmissionPolicyBindingList = listKind(validatingAdmissionPolicyBinding);
export type ValidatingAdmissionPolicyBindingList = Infer<typeof validatingAdmissionPolicyBindingList>;

export const validatingAdmissionPolicyList = listKind(validatingAdmissionPolicy);
export type ValidatingAdmissionPolicyList = Infer<typeof validatingAdmissionPolicyList>;
