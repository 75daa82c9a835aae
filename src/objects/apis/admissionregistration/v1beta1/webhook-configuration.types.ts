import {
  always,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { sideEffectClass } from '../v1/webhook-client-config.types.js';
import { mutatingWebhookFields, validatingWebhookFields } from '../v1/webhook-configuration.types.js';

export const mutatingWebhook = struct('admissionregistration.v1beta1.MutatingWebhook', {
  ...mutatingWebhookFields,
  sideEffects: pointer(6, sideEffectClass, { doc: 'Whether asking it has effects elsewhere.' }),
  admissionReviewVersions: optional(8, list(string), { doc: 'Versions of the review that it understands.' }),
});
export type MutatingWebhook = Infer<typeof mutatingWebhook>;

export const mutatingWebhookConfiguration = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'MutatingWebhookConfiguration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    webhooks: optional(2, list(mutatingWebhook), { ...mergedBy('name'), protoName: 'Webhooks', doc: 'The webhooks.' }),
  },
  { doc: 'Webhooks that may change objects before they are stored.' },
);
export type MutatingWebhookConfiguration = Infer<typeof mutatingWebhookConfiguration>;

export const mutatingWebhookConfigurationList = listKind(mutatingWebhookConfiguration);
export type MutatingWebhookConfigurationList = Infer<typeof mutatingWebhookConfigurationList>;

export const validatingWebhook = struct('admissionregistration.v1beta1.ValidatingWebhook', {
  ...validatingWebhookFields,
  sideEffects: pointer(6, sideEffectClass, { doc: 'Whether asking it has effects elsewhere.' }),
  admissionReviewVersions: optional(8, list(string), { doc: 'Versions of the review that it understands.' }),
});
export type ValidatingWebhook = Infer<typeof validatingWebhook>;

export const validatingWebhookConfiguration = kind(
  { group: 'admissionregistration', version: 'v1beta1', kind: 'ValidatingWebhookConfiguration', scope: 'Cluster' },
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
