import { createHash, type Hash } from 'node:crypto';
import { atOnce, type Steps } from '../../../base/machinery/turns.js';
import type { StructuralSchema } from '../structural/index.js';

/** The number of characters of a mark; each encodes two bits of a hash. */
const markLength = 16;
/** The hash is computed over pieces of this many characters. */
const pieceCharacters = 16 * 1024;
const blanks = [' ', '\t', '\n', '\r'] as const;

/**
 * White space that marks stored JSON whose unknown fields this schema dropped and whose defaults it filled in. Another
 * schema has the same mark only if it would drop and fill in the same fields.
 */
export function storedMark(schema: StructuralSchema): string {
  return atOnce(storedMarkInSteps(schema));
}

/** {@link storedMark} in several steps. */
export function* storedMarkInSteps(schema: StructuralSchema): Steps<string> {
  const hash = createHash('sha256');
  const form = new FormText(hash);
  yield* hashForm(schema, form);
  form.flush();
  const digest = hash.digest();
  let mark = '';
  for (let i = 0; i < markLength; i++) {
    const pair = ((digest[i >> 2] as number) >> ((i & 3) * 2)) & 3;
    mark += blanks[pair];
  }
  return mark;
}

/** Hashes a string in pieces of a fixed length. */
class FormText {
  private text = '';

  constructor(private readonly hash: Hash) {}

  add(text: string): void {
    this.text += text;
    if (this.text.length >= pieceCharacters) this.flush();
  }

  flush(): void {
    this.hash.update(this.text);
    this.text = '';
  }
}

/** Everything that decides which fields are dropped and filled in, as JSON. */
function* hashForm(schema: StructuralSchema, out: FormText): Steps {
  const { nullable, properties, items, additionalProperties, xPreserve, xEmbedded } = schema;
  out.add(`[${nullable},${JSON.stringify(schema.default) ?? null},[`);
  let separator = '';
  for (const name of [...properties.keys()].sort()) {
    out.add(`${separator}[${JSON.stringify(name)},`);
    separator = ',';
    yield* hashForm(properties.get(name) as StructuralSchema, out);
    out.add(']');
  }
  out.add('],');
  if (items === undefined) out.add('null');
  else yield* hashForm(items, out);
  out.add(',');
  if (typeof additionalProperties === 'object') yield* hashForm(additionalProperties, out);
  else out.add(String(additionalProperties ?? null));
  out.add(`,${xPreserve},${xEmbedded}]`);
  yield;
}
