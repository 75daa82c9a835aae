import {
  anyJson,
  bool,
  double,
  enumOf,
  type FieldMap,
  type Infer,
  int64,
  lazy,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  type StructType,
  string,
  struct,
  structOrBool,
  structOrList,
  structOrStrings,
} from '../../../../base/machinery/schema/index.js';

export const externalDocumentation = struct('apiextensions.v1.ExternalDocumentation', {
  description: optional(1, string),
  url: optional(2, string),
});
export type ExternalDocumentation = Infer<typeof externalDocumentation>;

export const fieldValueErrorReason = enumOf(
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
);
export type FieldValueErrorReason = Infer<typeof fieldValueErrorReason>;

export const validationRule = struct('apiextensions.v1.ValidationRule', {
  rule: required(1, string),
  message: optional(2, string),
  messageExpression: optional(3, string, { doc: 'CEL expression that makes the message.' }),
  reason: pointer(4, fieldValueErrorReason),
  fieldPath: optional(5, string),
  optionalOldSelf: pointer(6, bool),
});
export type ValidationRule = Infer<typeof validationRule>;

/** Written out, since a type that contains itself can't be inferred. Checked against the declaration below. */
export interface JSONSchemaProps {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: unknown;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  multipleOf?: number;
  enum?: unknown[];
  maxProperties?: number;
  minProperties?: number;
  required?: string[];
  items?: JSONSchemaProps | JSONSchemaProps[];
  allOf?: JSONSchemaProps[];
  oneOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  not?: JSONSchemaProps;
  properties?: Record<string, JSONSchemaProps>;
  additionalProperties?: JSONSchemaProps | boolean;
  patternProperties?: Record<string, JSONSchemaProps>;
  dependencies?: Record<string, JSONSchemaProps | string[]>;
  additionalItems?: JSONSchemaProps | boolean;
  definitions?: Record<string, JSONSchemaProps>;
  externalDocs?: ExternalDocumentation;
  example?: unknown;
  nullable?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: ValidationRule[];
}

/** The type declarations of JSON schemas, which refer to each other. */
function schemaTypes(more: FieldMap) {
  const schemaReference = lazy<JSONSchemaProps>(() => props);
  const propsOrArray = structOrList('apiextensions.v1.JSONSchemaPropsOrArray', schemaReference);
  const propsOrBool = structOrBool('apiextensions.v1.JSONSchemaPropsOrBool', schemaReference);
  const propsOrStringArray = structOrStrings('apiextensions.v1.JSONSchemaPropsOrStringArray', schemaReference);
  const props: StructType<JSONSchemaProps> = struct('apiextensions.v1.JSONSchemaProps', {
    id: optional(1, string),
    $schema: optional(2, string, { protoName: 'schema' }),
    $ref: pointer(3, string, { protoName: 'ref' }),
    description: optional(4, string),
    type: optional(5, string),
    format: optional(6, string),
    title: optional(7, string),
    default: pointer(8, anyJson),
    maximum: pointer(9, double),
    exclusiveMaximum: optional(10, bool),
    minimum: pointer(11, double),
    exclusiveMinimum: optional(12, bool),
    maxLength: pointer(13, int64),
    minLength: pointer(14, int64),
    pattern: optional(15, string),
    maxItems: pointer(16, int64),
    minItems: pointer(17, int64),
    uniqueItems: optional(18, bool),
    multipleOf: pointer(19, double),
    enum: optional(20, list(anyJson)),
    maxProperties: pointer(21, int64),
    minProperties: pointer(22, int64),
    required: optional(23, list(string)),
    items: pointer(24, propsOrArray),
    allOf: optional(25, list(schemaReference)),
    oneOf: optional(26, list(schemaReference)),
    anyOf: optional(27, list(schemaReference)),
    not: pointer(28, schemaReference),
    properties: optional(29, map(schemaReference)),
    additionalProperties: pointer(30, propsOrBool),
    patternProperties: optional(31, map(schemaReference)),
    dependencies: optional(32, map(propsOrStringArray)),
    additionalItems: pointer(33, propsOrBool),
    definitions: optional(34, map(schemaReference)),
    externalDocs: pointer(35, externalDocumentation),
    example: pointer(36, anyJson),
    nullable: optional(37, bool),
    'x-kubernetes-preserve-unknown-fields': pointer(38, bool, { protoName: 'xKubernetesPreserveUnknownFields' }),
    'x-kubernetes-embedded-resource': optional(39, bool, { protoName: 'xKubernetesEmbeddedResource' }),
    'x-kubernetes-int-or-string': optional(40, bool, { protoName: 'xKubernetesIntOrString' }),
    'x-kubernetes-list-map-keys': optional(41, list(string), { protoName: 'xKubernetesListMapKeys' }),
    'x-kubernetes-list-type': pointer(42, string, { protoName: 'xKubernetesListType' }),
    'x-kubernetes-map-type': pointer(43, string, { protoName: 'xKubernetesMapType' }),
    'x-kubernetes-validations': optional(44, list(validationRule), {
      ...mergedBy('rule'),
      protoName: 'xKubernetesValidations',
    }),
    ...more,
  });
  return { props, propsOrArray, propsOrBool, propsOrStringArray };
}

const declared = schemaTypes({});

export const jsonSchemaPropsOrArray = declared.propsOrArray;
export type JSONSchemaPropsOrArray = Infer<typeof jsonSchemaPropsOrArray>;

export const jsonSchemaPropsOrBool = declared.propsOrBool;
export type JSONSchemaPropsOrBool = Infer<typeof jsonSchemaPropsOrBool>;

export const jsonSchemaPropsOrStringArray = declared.propsOrStringArray;
export type JSONSchemaPropsOrStringArray = Infer<typeof jsonSchemaPropsOrStringArray>;

export const jsonSchemaProps: StructType<JSONSchemaProps> = declared.props;

/**
 * JSON schemas whose merge markers may also have the vendor's name: `<prefix>list-type` and so on. Other programs do
 * not know the protobuf numbers of these fields, so only servers of this kind preserve them; the fields with the usual
 * names hold the same values.
 */
export function jsonSchemaPropsWithMarkers(prefix: string): StructType<JSONSchemaProps> {
  return schemaTypes({
    [`${prefix}list-map-keys`]: optional(1041, list(string), {
      protoName: 'xVendorListMapKeys',
      doc: 'Members that identify an element of a map list.',
    }),
    [`${prefix}list-type`]: pointer(1042, string, {
      protoName: 'xVendorListType',
      doc: 'How lists are merged: atomic (default), set or map.',
    }),
    [`${prefix}map-type`]: pointer(1043, string, {
      protoName: 'xVendorMapType',
      doc: 'How objects are merged: granular (default) or atomic.',
    }),
  }).props;
}
