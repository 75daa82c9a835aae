import { createHash } from 'node:crypto';
import type { StructuralSchema } from '../structural/index.js';

/** Half as many bits as characters that a mark has. */
const markLength = 16;
const blanks = [' ', '\t', '\n', '\r'] as const;

/**
 * A mark of white space for texts whose unknown fields were dropped and whose defaults were filled in by this schema.
 * Another schema has the same mark only if it would drop and fill in the same.
 */
export function storedMark(schema: StructuralSchema): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(formOf(schema)))
    .digest();
  let mark = '';
  for (let i = 0; i < markLength; i++) {
    const pair = ((digest[i >> 2] as number) >> ((i & 3) * 2)) & 3;
    mark += blanks[pair];
  }
  return mark;
}

/** Everything that decides what is dropped and filled in. */
function formOf(schema: StructuralSchema): unknown {
  const { nullable, properties, items, additionalProperties, xPreserve, xEmbedded } = schema;
  return [
    nullable,
    schema.default,
    [...properties.keys()].sort().map((name) => [name, formOf(properties.get(name) as StructuralSchema)]),
    items === undefined ? null : formOf(items),
    typeof additionalProperties === 'object' ? formOf(additionalProperties) : additionalProperties,
    xPreserve,
    xEmbedded,
  ];
}
