import { type KindSchema, resolved, type Schema, schemaAt, typeText, valuesOf } from './openapi-schema.js';
import { documentAround, fieldsBeside, type YamlPlace, yamlPlace } from './yaml-path.js';

/** A name or a value that may stand at the cursor. */
export interface Offer {
  readonly text: string;
  /** What is inserted: for fields, with the colon and what begins their value. */
  readonly inserted: string;
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** What may stand at a place. */
export interface Offers {
  /** What is typed of it already. */
  readonly typed: string;
  readonly offers: readonly Offer[];
}

/** The description in the schema of the field under a cursor. */
export interface FieldHelp {
  readonly field: string;
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
}

export type SchemaOf = (apiVersion: string, kind: string) => Promise<KindSchema | undefined>;

interface Located {
  readonly lines: readonly string[];
  readonly at: number;
  readonly place: YamlPlace;
  readonly schema: KindSchema;
}

async function locate(
  all: readonly string[],
  line: number,
  column: number,
  of: SchemaOf,
): Promise<Located | undefined> {
  const { from, to } = documentAround(all, line);
  const lines = all.slice(from, to);
  const at = line - from;
  const apiVersion = scalarOf(lines, 'apiVersion');
  const kind = scalarOf(lines, 'kind');
  if (apiVersion === '' || kind === '') return undefined;
  const schema = await of(apiVersion, kind);
  return schema === undefined ? undefined : { lines, at, schema, place: yamlPlace(lines, at, column) };
}

function scalarOf(lines: readonly string[], field: string): string {
  const line = lines.find((each) => each.startsWith(`${field}:`));
  return (line ?? '')
    .slice(field.length + 1)
    .replace(/\s#.*$/, '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2');
}

/**
 * What may stand at a cursor, by the schema of the document's kind.
 *
 * @param line index of the cursor's line
 */
export async function offersAt(
  lines: readonly string[],
  line: number,
  column: number,
  of: SchemaOf,
): Promise<Offers | undefined> {
  const located = await locate(lines, line, column, of);
  if (located === undefined) return undefined;
  const { place, schema } = located;
  const { path, field, typed, isValue, indent } = place;
  if (isValue) {
    const value = schemaAt(schema, [...path, field]);
    const offers = value === undefined ? [] : valuesOf(value).map((text) => valueOffer(text, value, schema));
    return { typed, offers };
  }
  const holder = schemaAt(schema, path);
  const taken = fieldsBeside(located.lines, located.at, indent);
  const offers = Object.entries(holder?.properties ?? {})
    .filter(([name]) => !taken.has(name))
    .map(([name, each]) => fieldOffer(name, each, { holder, schema, indent }));
  return { typed, offers };
}

function valueOffer(text: string, value: Schema, { named }: KindSchema): Offer {
  const isDefault = ['string', 'number', 'boolean'].includes(typeof value.default) && String(value.default) === text;
  const type = isDefault ? 'default' : '';
  return { text, inserted: text, type, description: typeText(value, named), isRequired: false };
}

function fieldOffer(
  name: string,
  field: Schema,
  { holder, schema, indent }: { holder: Schema | undefined; schema: KindSchema; indent: number },
): Offer {
  const whole = resolved(field, schema.named);
  const space = ' '.repeat(indent);
  const begins: Readonly<Record<string, string>> = { object: `\n${space}  `, array: `\n${space}- ` };
  const isList = whole.type !== undefined && Object.hasOwn(begins, whole.type);
  return {
    text: name,
    inserted: `${name}:${isList ? begins[whole.type ?? ''] : ' '}`,
    type: typeText(whole, schema.named),
    description: whole.description ?? '',
    isRequired: holder?.required?.includes(name) === true,
  };
}

/**
 * The description in the schema of the field of a line; undefined if there is none, or the column is not on its name.
 */
export async function helpAt(
  lines: readonly string[],
  line: number,
  column: number,
  of: SchemaOf,
): Promise<FieldHelp | undefined> {
  const located = await locate(lines, line, column, of);
  if (located === undefined || located.place.isValue) return undefined;
  const { place, schema } = located;
  const { path, field, indent } = place;
  if (field === '' || column < indent) return undefined;
  const found = schemaAt(schema, [...path, field]);
  if (found === undefined) return undefined;
  const isRequired = schemaAt(schema, path)?.required?.includes(field) === true;
  return { field, type: typeText(found, schema.named), description: found.description ?? '', isRequired };
}

/** Lines that hold what programs write: the status, and the annotation with which `kubectl apply` remembers. */
export function noiseIn(lines: readonly string[]): readonly { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const [index, line] of lines.entries()) {
    const indent = /^( *)(?:status|"?[a-z.]+\/last-applied-configuration"?):/.exec(line)?.[1]?.length;
    if (indent === undefined || (/^ *status:/.test(line) && indent > 0)) continue;
    let to = index;
    while (to + 1 < lines.length && isBelow(lines[to + 1] ?? '', indent)) to++;
    if (to > index) found.push({ from: index, to });
  }
  return found;
}

function isBelow(line: string, indent: number): boolean {
  if (line.trim() === '') return false;
  const own = line.length - line.trimStart().length;
  return own > indent || (own === indent && line.startsWith('- ', indent));
}
