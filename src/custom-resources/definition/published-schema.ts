import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { toOpenApi } from '../structural/index.js';

/** How the schema of a custom kind, or a part of it, is published. */
export function publishedSchema(schema: JSONSchemaProps, form: 2 | 3): Readonly<Record<string, unknown>> {
  return toOpenApi(schema, { version: form });
}
