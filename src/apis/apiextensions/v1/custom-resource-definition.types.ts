import {
  always,
  bool,
  bytes,
  enumOf,
  type Infer,
  int32,
  int64,
  keyedBy,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { jsonSchemaProps } from './json-schema.types.js';

export const customResourceDefinitionNames = struct('apiextensions.v1.CustomResourceDefinitionNames', {
  plural: required(1, string),
  singular: optional(2, string),
  shortNames: optional(3, list(string)),
  kind: required(4, string),
  listKind: optional(5, string),
  categories: optional(6, list(string)),
});
export type CustomResourceDefinitionNames = Infer<typeof customResourceDefinitionNames>;

export const resourceScope = enumOf('Cluster', 'Namespaced');
export type ResourceScope = Infer<typeof resourceScope>;

export const customResourceValidation = struct('apiextensions.v1.CustomResourceValidation', {
  openAPIV3Schema: pointer(1, jsonSchemaProps),
});
export type CustomResourceValidation = Infer<typeof customResourceValidation>;

export const customResourceSubresourceStatus = struct('apiextensions.v1.CustomResourceSubresourceStatus', {});
export type CustomResourceSubresourceStatus = Infer<typeof customResourceSubresourceStatus>;

export const customResourceSubresourceScale = struct('apiextensions.v1.CustomResourceSubresourceScale', {
  specReplicasPath: required(1, string),
  statusReplicasPath: required(2, string),
  labelSelectorPath: pointer(3, string),
});
export type CustomResourceSubresourceScale = Infer<typeof customResourceSubresourceScale>;

export const customResourceSubresources = struct('apiextensions.v1.CustomResourceSubresources', {
  status: pointer(1, customResourceSubresourceStatus),
  scale: pointer(2, customResourceSubresourceScale),
});
export type CustomResourceSubresources = Infer<typeof customResourceSubresources>;

export const customResourceColumnDefinition = struct('apiextensions.v1.CustomResourceColumnDefinition', {
  name: required(1, string),
  type: required(2, string),
  format: optional(3, string),
  description: optional(4, string),
  priority: optional(5, int32),
  jsonPath: required(6, string),
});
export type CustomResourceColumnDefinition = Infer<typeof customResourceColumnDefinition>;

export const selectableField = struct('apiextensions.v1.SelectableField', {
  jsonPath: required(1, string),
});
export type SelectableField = Infer<typeof selectableField>;

export const customResourceDefinitionVersion = struct('apiextensions.v1.CustomResourceDefinitionVersion', {
  name: required(1, string),
  served: required(2, bool),
  storage: required(3, bool),
  deprecated: optional(7, bool),
  deprecationWarning: pointer(8, string),
  schema: pointer(4, customResourceValidation),
  subresources: pointer(5, customResourceSubresources),
  additionalPrinterColumns: optional(6, list(customResourceColumnDefinition)),
  selectableFields: optional(9, list(selectableField)),
});
export type CustomResourceDefinitionVersion = Infer<typeof customResourceDefinitionVersion>;

export const conversionStrategyType = enumOf('None', 'Webhook');
export type ConversionStrategyType = Infer<typeof conversionStrategyType>;

export const serviceReference = struct('apiextensions.v1.ServiceReference', {
  namespace: required(1, string),
  name: required(2, string),
  path: pointer(3, string),
  port: pointer(4, int32),
});
export type ServiceReference = Infer<typeof serviceReference>;

export const webhookClientConfig = struct('apiextensions.v1.WebhookClientConfig', {
  url: pointer(3, string),
  service: pointer(1, serviceReference),
  caBundle: optional(2, bytes),
});
export type WebhookClientConfig = Infer<typeof webhookClientConfig>;

export const webhookConversion = struct('apiextensions.v1.WebhookConversion', {
  clientConfig: pointer(2, webhookClientConfig),
  conversionReviewVersions: required(3, list(string)),
});
export type WebhookConversion = Infer<typeof webhookConversion>;

export const customResourceConversion = struct('apiextensions.v1.CustomResourceConversion', {
  strategy: required(1, conversionStrategyType),
  webhook: pointer(2, webhookConversion),
});
export type CustomResourceConversion = Infer<typeof customResourceConversion>;

export const customResourceDefinitionSpec = struct('apiextensions.v1.CustomResourceDefinitionSpec', {
  group: required(1, string),
  names: required(3, customResourceDefinitionNames),
  scope: required(4, resourceScope),
  versions: required(7, list(customResourceDefinitionVersion)),
  conversion: pointer(9, customResourceConversion),
  preserveUnknownFields: optional(10, bool),
});
export type CustomResourceDefinitionSpec = Infer<typeof customResourceDefinitionSpec>;

export const customResourceDefinitionConditionType = enumOf(
  'Established',
  'KubernetesAPIApprovalPolicyConformant',
  'NamesAccepted',
  'NonStructuralSchema',
  'StorageMigrating',
  'Terminating',
);
export type CustomResourceDefinitionConditionType = Infer<typeof customResourceDefinitionConditionType>;

export const conditionStatus = enumOf('False', 'True', 'Unknown');
export type ConditionStatus = Infer<typeof conditionStatus>;

export const customResourceDefinitionCondition = struct('apiextensions.v1.CustomResourceDefinitionCondition', {
  type: required(1, customResourceDefinitionConditionType),
  status: required(2, conditionStatus),
  lastTransitionTime: always(3, time),
  reason: optional(4, string),
  message: optional(5, string),
  observedGeneration: optional(6, int64),
});
export type CustomResourceDefinitionCondition = Infer<typeof customResourceDefinitionCondition>;

export const customResourceDefinitionStatus = struct('apiextensions.v1.CustomResourceDefinitionStatus', {
  conditions: always(1, list(customResourceDefinitionCondition), keyedBy('type')),
  acceptedNames: always(2, customResourceDefinitionNames),
  storedVersions: always(3, list(string)),
  observedGeneration: optional(4, int64),
});
export type CustomResourceDefinitionStatus = Infer<typeof customResourceDefinitionStatus>;

export const customResourceDefinition = kind(
  { group: 'apiextensions', version: 'v1', kind: 'CustomResourceDefinition', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, customResourceDefinitionSpec),
    status: always(3, customResourceDefinitionStatus),
  },
);
export type CustomResourceDefinition = Infer<typeof customResourceDefinition>;

export const customResourceDefinitionList = listKind(customResourceDefinition);
export type CustomResourceDefinitionList = Infer<typeof customResourceDefinitionList>;
