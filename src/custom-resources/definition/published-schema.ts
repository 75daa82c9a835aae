import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';

export function publishedSchema(schema: JSONSchemaProps, _form: 2 | 3): Readonly<Record<string, unknown>> {
  return schema as Readonly<Record<string, unknown>>;
}
