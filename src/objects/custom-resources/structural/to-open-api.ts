import { LazyJson, LazyMembers } from '../../../base/machinery/json/lazy-json.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import type { JsonRecord } from './json-objects.js';
import { isIntOrString } from './structural-rules.js';
import { publishedMarkers } from './vendor-markers.js';

export interface OpenApiForm {
  /** 2 for Swagger 2.0 documents, 3 for OpenAPI 3.0 ones. */
  readonly version: 2 | 3;
  /** The replacement for the metadata of embedded resources, for example a reference; default: any object. */
  readonly objectMeta?: Readonly<JsonRecord>;
  /** Whether everything below the schema itself is made only when the document is written; for long schemas. */
  readonly isLazy?: boolean;
}

/**
 * The schema as the published documents show it, in new objects, apart from enums, defaults and rules, which are shared
 * with the schema. Version 3 expresses everything that the schema does. Version 2 can't express alternatives, nulls and
 * unions of types, and clients validate by it before they send, so the document is looser there rather than refuse
 * valid objects: allOf, anyOf, oneOf, not and defaults are left out, a schema that is nullable or preserves unknown
 * fields loses its type, properties and items, and an int-or-string loses its type. In version 3 an int-or-string says
 * by anyOf what it may be.
 */
export function toOpenApi(props: JSONSchemaProps, form: OpenApiForm): JsonRecord {
  const published: JsonRecord = {};
  const isLoose =
    form.version === 2 && (props.nullable === true || props['x-kubernetes-preserve-unknown-fields'] === true);
  for (const key of form.version === 2 ? keywordsOf2 : keywordsOf3) {
    const value = props[key];
    if (value === undefined) continue;
    // Empty text and false say nothing as keywords, but are values as defaults.
    if (key === 'default' || (value !== false && value !== '')) published[key] = value;
  }
  for (const [key, value] of publishedMarkers(props)) published[key] = value;
  if (isLoose || (form.version === 2 && props['x-kubernetes-int-or-string'] === true)) delete published.type;
  if (!isLoose) addContents(props, form, published);
  const { additionalProperties } = props;
  if (typeof additionalProperties === 'object') {
    published.additionalProperties = below(additionalProperties, form);
  } else if (additionalProperties !== undefined) published.additionalProperties = additionalProperties;
  if (form.version === 3) addAlternatives(props, form, published);
  return published;
}

function below(props: JSONSchemaProps, form: OpenApiForm): unknown {
  return form.isLazy === true ? new LazyJson(() => toOpenApi(props, form)) : toOpenApi(props, form);
}

const keywordsOf2 = [
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'multipleOf',
  'maxProperties',
  'minProperties',
  'required',
  'enum',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const satisfies readonly (keyof JSONSchemaProps)[];

const keywordsOf3 = [...keywordsOf2, 'default', 'nullable'] as const satisfies readonly (keyof JSONSchemaProps)[];

function addContents(props: JSONSchemaProps, form: OpenApiForm, published: JsonRecord): void {
  const { properties, items } = props;
  if (items !== undefined && !Array.isArray(items)) published.items = below(items, form);
  const isEmbedded = props['x-kubernetes-embedded-resource'] === true;
  if (properties === undefined && !isEmbedded) return;
  const members = () => publishedProperties(properties ?? {}, isEmbedded, form);
  published.properties = form.isLazy === true ? new LazyMembers(members) : Object.fromEntries(members());
  if (!isEmbedded) return;
  published.required = [...new Set([...(props.required ?? []), 'apiVersion', 'kind'])];
}

function* publishedProperties(
  properties: Readonly<Record<string, JSONSchemaProps>>,
  isEmbedded: boolean,
  form: OpenApiForm,
): Generator<readonly [name: string, schema: unknown], void, undefined> {
  for (const name of Object.keys(properties)) {
    if (!isEmbedded || !ofEveryObject.includes(name))
      yield [name, toOpenApi(properties[name] as JSONSchemaProps, form)];
  }
  if (!isEmbedded) return;
  yield [
    'apiVersion',
    { description: 'APIVersion defines the version that the object is written in.', type: 'string' },
  ];
  yield ['kind', { description: 'Kind of the object.', type: 'string' }];
  yield ['metadata', form.objectMeta ?? { description: 'Metadata of the object.', type: 'object' }];
}

const ofEveryObject: readonly string[] = ['apiVersion', 'kind', 'metadata'];

function addAlternatives(props: JSONSchemaProps, form: OpenApiForm, published: JsonRecord): void {
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const schemas = props[keyword];
    if (schemas !== undefined && schemas.length > 0) {
      published[keyword] = schemas.map((schema) => below(schema, form));
    }
  }
  const isOpen = props.anyOf === undefined && !isIntOrString(props.allOf?.[0]?.anyOf);
  if (props['x-kubernetes-int-or-string'] === true && isOpen) {
    published.anyOf = [{ type: 'integer' }, { type: 'string' }];
  }
  if (props.not !== undefined) published.not = below(props.not, form);
}
