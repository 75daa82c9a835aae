import { FieldPath } from '../../../base/machinery/field-error.js';
import type { StructuralSchema } from '../structural/index.js';

/** A path from a place in a schema to a field below it. */
export interface SchemaPath {
  /** Names of fields and keys of maps, outermost first. Never empty. */
  readonly steps: readonly SchemaStep[];
  readonly schema: StructuralSchema;
}

export interface SchemaStep {
  readonly name: string;
  /** Whether the step is a key of a map; otherwise it is a declared field. */
  readonly isKey: boolean;
}

const noField = 'does not refer to a valid field';
const tooShort = 'unexpected end of JSON path';
const maxLength = 4096;

/**
 * Follows a path such as `.a.b['c d']` through a schema. Returns the reason, as clients know it, when the string
 * is not a path or the path leads nowhere.
 *
 * @param brackets whether fields may be in brackets
 */
export function followSchemaPath(
  text: string,
  root: StructuralSchema,
  brackets: boolean,
): SchemaPath | { readonly fault: string } {
  if (text.length > maxLength) return { fault: `must have at most ${maxLength} characters` };
  const tokens = text.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/g) ?? [];
  const steps: SchemaStep[] = [];
  let schema = root;
  let next = 0;
  while (next < tokens.length) {
    const opening = tokens[next++] as string;
    if (opening !== '.' && opening !== '[') return { fault: `expected [ or . but got: ${opening}` };
    if (opening === '[' && !brackets) return { fault: 'fields in brackets are not allowed' };
    const token = tokens[next++];
    if (token === undefined) return { fault: tooShort };
    const name = opening === '.' ? token : unquoted(token);
    if (name === undefined) return { fault: `expected single quoted string but got ${token}` };
    if (opening === '[') {
      const closing = tokens[next++];
      if (closing === undefined) return { fault: tooShort };
      if (closing !== ']') return { fault: `expected ] but got ${closing}` };
    }
    const isKey = schema.properties.size === 0 && typeof schema.additionalProperties === 'object';
    const found = isKey ? (schema.additionalProperties as StructuralSchema) : schema.properties.get(name);
    if (found === undefined) return { fault: noField };
    steps.push({ name, isKey });
    schema = found;
  }
  return steps.length === 0 ? { fault: tooShort } : { steps, schema };
}

/** The path as messages spell it, below another one; undefined stands for the root of an object. */
export function pathBelow(path: FieldPath | undefined, steps: readonly SchemaStep[]): FieldPath {
  let at = path;
  for (const { name, isKey } of steps) {
    if (at === undefined) at = FieldPath.of(name);
    else at = isKey ? at.key(name) : at.child(name);
  }
  return at as FieldPath;
}

function unquoted(token: string): string | undefined {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) return undefined;
  return token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
