import {
  always,
  bool,
  bytes,
  enumOf,
  type Infer,
  int32,
  int64,
  type KindType,
  keyedBy,
  kind,
  list,
  optional,
  pointer,
  required,
  type SchemaType,
  type StructType,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { jsonSchemaProps, jsonSchemaPropsWithMarkers } from './json-schema.types.js';

export const customResourceDefinitionNames = struct('apiextensions.v1.CustomResourceDefinitionNames', {
  plural: required(1, string, { doc: 'Name in paths.' }),
  singular: optional(2, string, { doc: 'Name for one object.' }),
  shortNames: optional(3, list(string), { doc: 'Short names for the command line.' }),
  kind: required(4, string, { doc: 'Name of the kind.' }),
  listKind: optional(5, string, { doc: 'Name of the list kind.' }),
  categories: optional(6, list(string), { doc: 'Groups of kinds, such as all.' }),
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
  name: required(1, string, { doc: 'Name of the version.' }),
  served: required(2, bool, { doc: 'Whether it is served.' }),
  storage: required(3, bool, { doc: 'Whether objects are stored in it.' }),
  deprecated: optional(7, bool, { doc: 'Whether clients are warned.' }),
  deprecationWarning: pointer(8, string, { doc: 'Text of the warning.' }),
  schema: pointer(4, customResourceValidation, { doc: 'Schema of the objects.' }),
  subresources: pointer(5, customResourceSubresources, { doc: 'Subresources of the objects.' }),
  additionalPrinterColumns: optional(6, list(customResourceColumnDefinition), { doc: 'Columns of tables.' }),
  selectableFields: optional(9, list(selectableField), { doc: 'Fields for field selectors.' }),
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
  caBundle: optional(2, bytes, { doc: "PEM certificates that the server's certificate is checked with." }),
});
export type WebhookClientConfig = Infer<typeof webhookClientConfig>;

export const webhookConversion = struct('apiextensions.v1.WebhookConversion', {
  clientConfig: pointer(2, webhookClientConfig, { doc: 'How the webhook is reached.' }),
  conversionReviewVersions: required(3, list(string)),
});
export type WebhookConversion = Infer<typeof webhookConversion>;

export const customResourceConversion = struct('apiextensions.v1.CustomResourceConversion', {
  strategy: required(1, conversionStrategyType),
  webhook: pointer(2, webhookConversion),
});
export type CustomResourceConversion = Infer<typeof customResourceConversion>;

export const customResourceDefinitionSpec = struct('apiextensions.v1.CustomResourceDefinitionSpec', {
  group: required(1, string, { doc: 'Group of the kind.' }),
  names: required(3, customResourceDefinitionNames, { doc: 'Names of the kind.' }),
  scope: required(4, resourceScope, { doc: 'Namespaced or Cluster.' }),
  versions: required(7, list(customResourceDefinitionVersion), { doc: 'Versions of the kind; one of them is stored.' }),
  conversion: pointer(9, customResourceConversion, { doc: 'How objects get from version to version.' }),
  preserveUnknownFields: optional(10, bool, { doc: 'No longer used.' }),
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

export const customResourceDefinitionCondition = struct(
  'apiextensions.v1.CustomResourceDefinitionCondition',
  {
    type: required(1, customResourceDefinitionConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
    observedGeneration: optional(6, int64, { doc: 'Generation of the object that this status is about.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type CustomResourceDefinitionCondition = Infer<typeof customResourceDefinitionCondition>;

export const customResourceDefinitionStatus = struct('apiextensions.v1.CustomResourceDefinitionStatus', {
  conditions: always(1, list(customResourceDefinitionCondition), {
    ...keyedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
  acceptedNames: always(2, customResourceDefinitionNames),
  storedVersions: always(3, list(string)),
  observedGeneration: optional(4, int64, { doc: 'Generation of the object that this status is about.' }),
});
export type CustomResourceDefinitionStatus = Infer<typeof customResourceDefinitionStatus>;

export const customResourceDefinition = kind(
  { group: 'apiextensions', version: 'v1', kind: 'CustomResourceDefinition', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, customResourceDefinitionSpec),
    status: always(3, customResourceDefinitionStatus),
  },
  { doc: 'Adds a kind to the API.' },
);
export type CustomResourceDefinition = Infer<typeof customResourceDefinition>;

export const customResourceDefinitionList = listKind(customResourceDefinition);
export type CustomResourceDefinitionList = Infer<typeof customResourceDefinitionList>;

/** The kind CustomResourceDefinition, with schemas whose merge markers may also begin with `prefix`. */
export function customResourceDefinitionWithMarkers(prefix: string): KindType<CustomResourceDefinition> {
  const validation = retyped(customResourceValidation, 'openAPIV3Schema', jsonSchemaPropsWithMarkers(prefix));
  const version = retyped(customResourceDefinitionVersion, 'schema', validation);
  const spec = retyped(customResourceDefinitionSpec, 'versions', list(version));
  return retyped(customResourceDefinition, 'spec', spec);
}

/** A copy of the declaration in which the field `name` has another type. */
function retyped<T extends StructType>(declaration: T, name: string, type: SchemaType): T {
  const fields = declaration.fields.map((field) => (field.name === name ? { ...field, type } : field));
  return { ...declaration, fields };
}
