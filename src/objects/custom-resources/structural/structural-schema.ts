import { atOnce, type Steps } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps, ValidationRule } from '../../apis/apiextensions/v1/json-schema.types.js';
import { AllowedValues } from './allowed-values.js';
import { Pattern } from './pattern.js';

export type SchemaTypeName = 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';

/**
 * The schema of one version of a custom kind, or of a part of it (specification 5.9). Made once per change of the
 * definition; immutable plain data, apart from what patterns and enums compile at their first use. Every node has every
 * field, so that code that walks it stays fast. Parts that only documents show are left out: they make up most of many
 * schemas.
 */
export interface StructuralSchema {
  /**
   * The type; undefined only for nodes of any type: x-kubernetes-int-or-string and
   * x-kubernetes-preserve-unknown-fields.
   */
  readonly type: SchemaTypeName | undefined;
  readonly nullable: boolean;
  /** The default; undefined when there is none. Shared: copy it before putting it into an object. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  readonly items: StructuralSchema | undefined;
  readonly additionalProperties: StructuralSchema | boolean | undefined;
  readonly xPreserve: boolean;
  readonly xIntOrString: boolean;
  readonly xEmbedded: boolean;
  readonly xListType: 'atomic' | 'map' | 'set' | undefined;
  readonly xListMapKeys: readonly string[];
  readonly xMapType: 'atomic' | 'granular' | undefined;
  readonly xValidations: readonly ValidationRule[];
  /** The constraints on values besides their type; undefined when there are none. */
  readonly validation: ValueValidation | undefined;
  /** Whether the node or one below it has a default. */
  readonly hasDefaults: boolean;
  /** Whether the node or one below it is an embedded resource or a list with the type map or set. */
  readonly hasStructureRules: boolean;
}

/** The keywords that only narrow which values are valid. */
export interface ValueValidation {
  readonly format: string;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly multipleOf: number | undefined;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: Pattern | undefined;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly required: readonly string[];
  /** The allowed values; undefined when every value is allowed. */
  readonly enum: AllowedValues | undefined;
  readonly allOf: readonly NestedValidation[];
  readonly anyOf: readonly NestedValidation[];
  readonly oneOf: readonly NestedValidation[];
  readonly not: NestedValidation | undefined;
  /** Whether there is any of allOf, anyOf, oneOf and not. */
  readonly hasAlternatives: boolean;
}

/** A schema within allOf, anyOf, oneOf or not: it does not define which fields there are. */
export interface NestedValidation {
  /** The type; set only within the forms of int-or-string that the rules allow. */
  readonly type: SchemaTypeName | undefined;
  readonly properties: ReadonlyMap<string, NestedValidation>;
  readonly items: NestedValidation | undefined;
  readonly validation: ValueValidation | undefined;
}

/**
 * The schema of a version, for schemas that passed {@link definitionSchemaErrors}; from other schemas it takes what it
 * understands, never throws, and reads lists of items, `$ref` and the like as absent. Takes time linear in the schema.
 */
export function structuralSchema(props: JSONSchemaProps): StructuralSchema {
  return atOnce(structuralSchemaInSteps(props));
}

/** {@link structuralSchema} in several steps, which hash long enums, too. */
export function* structuralSchemaInSteps(props: JSONSchemaProps): Steps<StructuralSchema> {
  yield;
  const properties = yield* mapOf(props.properties, structuralSchemaInSteps);
  const { items: item } = props;
  const items = item === undefined || Array.isArray(item) ? undefined : yield* structuralSchemaInSteps(item);
  const additional = props.additionalProperties;
  const additionalProperties = typeof additional === 'object' ? yield* structuralSchemaInSteps(additional) : additional;
  const below = [...properties.values()];
  if (items !== undefined) below.push(items);
  if (typeof additionalProperties === 'object') below.push(additionalProperties);
  const xEmbedded = props['x-kubernetes-embedded-resource'] === true;
  const xListType = props['x-kubernetes-list-type'] as StructuralSchema['xListType'];
  const isChecked = xEmbedded || xListType === 'map' || xListType === 'set';
  return {
    type: typeName(props.type),
    nullable: props.nullable === true,
    default: props.default,
    properties,
    items,
    additionalProperties,
    xPreserve: props['x-kubernetes-preserve-unknown-fields'] === true,
    xIntOrString: props['x-kubernetes-int-or-string'] === true,
    xEmbedded,
    xListType,
    xListMapKeys: props['x-kubernetes-list-map-keys'] ?? none,
    xMapType: props['x-kubernetes-map-type'] as StructuralSchema['xMapType'],
    xValidations: props['x-kubernetes-validations'] ?? none,
    validation: yield* valueValidation(props),
    hasDefaults: props.default !== undefined || below.some((schema) => schema.hasDefaults),
    hasStructureRules: isChecked || below.some((schema) => schema.hasStructureRules),
  };
}

/** Whether {@link withDefaults} can fill any field of an object of this schema. */
export function hasDefaults(schema: StructuralSchema): boolean {
  return schema.hasDefaults;
}

const none: readonly never[] = [];
const noMembers: ReadonlyMap<string, never> = new Map<string, never>();

function* mapOf<T>(
  record: Readonly<Record<string, JSONSchemaProps>> | undefined,
  convert: (props: JSONSchemaProps) => Steps<T>,
): Steps<ReadonlyMap<string, T>> {
  if (record === undefined) return noMembers;
  const map = new Map<string, T>();
  for (const name of Object.keys(record)) map.set(name, yield* convert(record[name] as JSONSchemaProps));
  return map;
}

function typeName(type: string | undefined): SchemaTypeName | undefined {
  return type === undefined || type === '' ? undefined : (type as SchemaTypeName);
}

function* nestedValidation(props: JSONSchemaProps): Steps<NestedValidation> {
  yield;
  const { items } = props;
  return {
    type: typeName(props.type),
    properties: yield* mapOf(props.properties, nestedValidation),
    items: items === undefined || Array.isArray(items) ? undefined : yield* nestedValidation(items),
    validation: yield* valueValidation(props),
  };
}

function* nestedValidations(schemas: readonly JSONSchemaProps[] | undefined): Steps<readonly NestedValidation[]> {
  if (schemas === undefined) return none;
  const nested: NestedValidation[] = [];
  for (const schema of schemas) nested.push(yield* nestedValidation(schema));
  return nested;
}

function* allowedValues(values: readonly unknown[] | undefined): Steps<AllowedValues | undefined> {
  if (values === undefined || values.length === 0) return undefined;
  const allowed = new AllowedValues(values);
  yield* allowed.hashIfMany();
  return allowed;
}

function hasAny(schemas: readonly JSONSchemaProps[] | undefined): boolean {
  return schemas !== undefined && schemas.length > 0;
}

function* valueValidation(props: JSONSchemaProps): Steps<ValueValidation | undefined> {
  const validation: ValueValidation = {
    format: props.format ?? '',
    maximum: props.maximum,
    exclusiveMaximum: props.exclusiveMaximum === true,
    minimum: props.minimum,
    exclusiveMinimum: props.exclusiveMinimum === true,
    multipleOf: props.multipleOf,
    maxLength: props.maxLength,
    minLength: props.minLength,
    pattern: props.pattern === undefined || props.pattern === '' ? undefined : Pattern.of(props.pattern),
    maxItems: props.maxItems,
    minItems: props.minItems,
    maxProperties: props.maxProperties,
    minProperties: props.minProperties,
    required: props.required ?? none,
    enum: yield* allowedValues(props.enum),
    allOf: yield* nestedValidations(props.allOf),
    anyOf: yield* nestedValidations(props.anyOf),
    oneOf: yield* nestedValidations(props.oneOf),
    not: props.not === undefined ? undefined : yield* nestedValidation(props.not),
    hasAlternatives: hasAny(props.allOf) || hasAny(props.anyOf) || hasAny(props.oneOf) || props.not !== undefined,
  };
  for (const key in validation) {
    const value = validation[key as keyof ValueValidation];
    if (value !== undefined && value !== false && value !== '' && value !== none) {
      if (!Array.isArray(value) || value.length > 0) return validation;
    }
  }
  return undefined;
}
