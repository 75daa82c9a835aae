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
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { reinvocationPolicyType } from './mutating-admission-policy.types.js';
import { failurePolicyType, matchCondition, matchPolicyType, ruleWithOperations } from './rule.types.js';
import { sideEffectClass, webhookClientConfig } from './webhook-client-config.types.js';

/** Fields of a mutating webhook, which other versions share. */
export const mutatingWebhookFields = {
  name: required(1, string, { doc: 'Name of the webhook, as a domain name.' }),
  clientConfig: required(2, webhookClientConfig, { doc: 'How the webhook is reached.' }),
  rules: optional(3, list(ruleWithOperations), { doc: 'Requests that it is asked about.' }),
  failurePolicy: pointer(4, failurePolicyType, { doc: 'What happens when no usable answer comes: Fail or Ignore.' }),
  matchPolicy: pointer(9, matchPolicyType, { doc: 'Whether other versions of the same resource match too.' }),
  namespaceSelector: pointer(5, labelSelector, { doc: 'Chooses namespaces by their labels.' }),
  objectSelector: pointer(11, labelSelector, { doc: 'Chooses objects by their labels.' }),
  sideEffects: required(6, sideEffectClass, { nullable: true, doc: 'Whether asking it has effects elsewhere.' }),
  timeoutSeconds: pointer(7, int32, { doc: 'How long an answer may take, in seconds.' }),
  admissionReviewVersions: required(8, list(string), { doc: 'Versions of the review that it understands.' }),
  reinvocationPolicy: pointer(10, reinvocationPolicyType, {
    doc: 'Whether it may be asked again after others changed the object.',
  }),
  matchConditions: optional(12, list(matchCondition), {
    ...mergedBy('name'),
    doc: 'Expressions that must all be true for a request to match.',
  }),
};

export const mutatingWebhook = struct('admissionregistration.v1.MutatingWebhook', mutatingWebhookFields);
export type MutatingWebhook = Infer<typeof mutatingWebhook>;

export const mutatingWebhookConfiguration = kind(
  { group: 'admissionregistration', version: 'v1', kind: 'MutatingWebhookConfiguration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    webhooks: optional(2, list(mutatingWebhook), { ...mergedBy('name'), protoName: 'Webhooks', doc: 'The webhooks.' }),
  },
  { doc: 'Webhooks that may change objects before they are stored.' },
);
export type MutatingWebhookConfiguration = Infer<typeof mutatingWebhookConfiguration>;

export const mutatingWebhookConfigurationList = listKind(mutatingWebhookConfiguration);
export type MutatingWebhookConfigurationList = Infer<typeof mutatingWebhookConfigurationList>;

/** Fields of a validating webhook, which other versions share. */
export const validatingWebhookFields = {
  name: required(1, string, { doc: 'Name of the webhook, as a domain name.' }),
  clientConfig: required(2, webhookClientConfig, { doc: 'How the webhook is reached.' }),
  rules: optional(3, list(ruleWithOperations), { doc: 'Requests that it is asked about.' }),
  failurePolicy: pointer(4, failurePolicyType, { doc: 'What happens when no usable answer comes: Fail or Ignore.' }),
  matchPolicy: pointer(9, matchPolicyType, { doc: 'Whether other versions of the same resource match too.' }),
  namespaceSelector: pointer(5, labelSelector, { doc: 'Chooses namespaces by their labels.' }),
  objectSelector: pointer(10, labelSelector, { doc: 'Chooses objects by their labels.' }),
  sideEffects: required(6, sideEffectClass, { nullable: true, doc: 'Whether asking it has effects elsewhere.' }),
  timeoutSeconds: pointer(7, int32, { doc: 'How long an answer may take, in seconds.' }),
  admissionReviewVersions: required(8, list(string), { doc: 'Versions of the review that it understands.' }),
  matchConditions: optional(11, list(matchCondition), {
    ...mergedBy('name'),
    doc: 'Expressions that must all be true for a request to match.',
  }),
};

export const validatingWebhook = struct('admissionregistration.v1.ValidatingWebhook', validatingWebhookFields);
export type ValidatingWebhook = Infer<typeof validatingWebhook>;

export const validatingWebhookConfiguration = kind(
  { group: 'admissionregistration', version: 'v1', kind: 'ValidatingWebhookConfiguration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    webhooks: optional(2, list(validatingWebhook), {
      ...mergedBy('name'),
      protoName: 'Webhooks',
      doc: 'The webhooks.',
    }),
  },
  { doc: 'Webhooks that may refuse requests.' },
);
export type ValidatingWebhookConfiguration = Infer<typeof validatingWebhookConfiguration>;

export const validatingWebhookConfigurationList = listKind(validatingWebhookConfiguration);
export type ValidatingWebhookConfigurationList = Infer<typeof validatingWebhookConfigurationList>;
