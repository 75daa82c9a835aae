import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

/** Any JSON value of a document, or one that a document describes. */
// biome-ignore lint/suspicious/noExplicitAny: documents are taken as they come
export type Json = any;

/**
 * Checks values against the schemas of an OpenAPI document, 2.0 or 3.0. Stricter than the schemas: an object has no
 * fields besides the declared ones.
 */
export class DocumentSchemas {
  private readonly ajv: Ajv;
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly schemas: Readonly<Record<string, Json>>;

  constructor(document: Json) {
    // JSON Schema has no format for a value that is a number or a text.
    this.ajv = new Ajv({ strict: false, formats: { 'int-or-string': true } });
    addFormats.default(this.ajv);
    this.schemas = document.components?.schemas ?? document.definitions ?? {};
    for (const [name, schema] of Object.entries(this.schemas)) this.ajv.addSchema(toJsonSchema(schema), name);
  }

  /** The faults of a value by a schema of the document; empty when it has none. */
  faults(schema: Json, value: unknown): string[] {
    const key = JSON.stringify(schema);
    let check = this.compiled.get(key);
    if (check === undefined) {
      check = this.ajv.compile(toJsonSchema(schema));
      this.compiled.set(key, check);
    }
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message, params }) => {
      return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;
    });
  }

  /** The schema at the end of references. */
  resolve(schema: Json): Json {
    const { $ref } = schema.allOf?.length === 1 ? schema.allOf[0] : schema;
    return $ref === undefined ? schema : this.schemas[nameOfReference($ref)];
  }
}

/** The name of the definition that a reference leads to. */
export function nameOfReference(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** A schema of OpenAPI in the words of JSON Schema; references lead to the schemas by their names. */
function toJsonSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  const { nullable, 'x-nullable': xNullable, $ref, properties, items, additionalProperties } = schema;
  const result: Json = {};
  for (const key of ['type', 'format', 'required']) if (schema[key] !== undefined) result[key] = schema[key];
  // As the release describes it: version 2.0 has no type for either of two.
  if (schema.format === 'int-or-string' && schema.type === 'string') result.type = ['integer', 'string'];
  if (isNullWhileEmpty(schema)) result.type = [schema.type, 'null'];
  if ($ref !== undefined) result.$ref = nameOfReference($ref);
  for (const key of ['allOf', 'oneOf', 'anyOf']) {
    if (schema[key] !== undefined) result[key] = toJsonSchema(schema[key]);
  }
  if (items !== undefined) result.items = toJsonSchema(items);
  if (properties !== undefined) {
    const required: readonly string[] = schema.required ?? [];
    const members = Object.entries<Json>(properties).map(([name, member]) => {
      const isOptionalObject = (member.$ref ?? member.allOf) !== undefined && !required.includes(name);
      return [name, isOptionalObject ? orNull(toJsonSchema(member)) : toJsonSchema(member)];
    });
    result.properties = Object.fromEntries(members);
    result.additionalProperties = false;
  }
  if (additionalProperties !== undefined) result.additionalProperties = toJsonSchema(additionalProperties);
  return nullable === true || xNullable === true ? orNull(result) : result;
}

function orNull(schema: Json): Json {
  return { anyOf: [schema, { type: 'null' }] };
}

/** Some lists, bytes and times that the release always shows are null while they are empty; no description says so. */
function isNullWhileEmpty({ type, format }: Json): boolean {
  return type === 'array' || format === 'byte' || format === 'date-time';
}
