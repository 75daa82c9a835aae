import {
  always,
  type Infer,
  int32,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { reinvocationPolicyType } from '../v1/mutating-admission-policy.types.js';
import { failurePolicyType, matchCondition, matchPolicyType, ruleWithOperations } from '../v1/rule.types.js';
import { sideEffectClass, webhookClientConfig } from '../v1/webhook-client-config.types.js';

export const mutatingWebhook = struct('admissionregistration.v1beta1.MutatingWebhook', {
  name: required(1, string),
  clientConfig: required(2, webhookClientConfig),
  rules: optional(3, list(ruleWithOperations)),
  failurePolicy: pointer(4, failurePolicyType),
  matchPolicy: pointer(9, matchPolicyType),
  namespaceSelector: pointer(5, labelSelector),
  objectSelector: pointer(11, labelSelector),
  sideEffects: pointer(6, sideEffectClass),
  timeoutSeconds: pointer(7, int32),
  admissionReviewVersions: optional(8, list(string)),
  reinvocationPolicy: pointer(10, reinvocationPolicyType),
  matchConditions: optional(12, list(matchCondition), mergedBy('name')),
});
export type MutatingWebhook = Infer<typeof mutatingWebhook>;

export const mutatingWebhookConfiguration = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'MutatingWebhookConfiguration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    webhooks: optional(2, list(mutatingWebhook), { ...mergedBy('name'), protoName: 'Webhooks' }),
  },
);
export type MutatingWebhookConfiguration = Infer<typeof mutatingWebhookConfiguration>;

export const mutatingWebhookConfigurationList = listKind(mutatingWebhookConfiguration);
export type MutatingWebhookConfigurationList = Infer<typeof mutatingWebhookConfigurationList>;

export const validatingWebhook = struct('admissionregistration.v1beta1.ValidatingWebhook', {
  name: required(1, string),
  clientConfig: required(2, webhookClientConfig),
  rules: optional(3, list(ruleWithOperations)),
  failurePolicy: pointer(4, failurePolicyType),
  matchPolicy: pointer(9, matchPolicyType),
  namespaceSelector: pointer(5, labelSelector),
  objectSelector: pointer(10, labelSelector),
  sideEffects: pointer(6, sideEffectClass),
  timeoutSeconds: pointer(7, int32),
  admissionReviewVersions: optional(8, list(string)),
  matchConditions: optional(11, list(matchCondition), mergedBy('name')),
});
export type ValidatingWebhook = Infer<typeof validatingWebhook>;

export const validatingWebhookConfiguration = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'ValidatingWebhookConfiguration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    webhooks: optional(2, list(validatingWebhook), { ...mergedBy('name'), protoName: 'Webhooks' }),
  },
);
export type ValidatingWebhookConfiguration = Infer<typeof validatingWebhookConfiguration>;

export const validatingWebhookConfigurationList = listKind(validatingWebhookConfiguration);
export type ValidatingWebhookConfigurationList = Infer<typeof validatingWebhookConfigurationList>;
