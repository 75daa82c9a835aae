import type { CustomResourceDefinition } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

/** A schema in JSON: what stands in it is checked elsewhere. */
type Schema = Readonly<Record<string, unknown>>;

/** Formats of texts, without the dashes that do not matter in their names. */
const textFormats: ReadonlySet<string> = new Set(
  (
    'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn ' +
    'hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname'
  ).split(' '),
);
const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** Warnings about schemas that a write adds: formats that nobody checks, and sets whose items can't be compared. */
export function definitionWarnings({ spec }: CustomResourceDefinition, old?: CustomResourceDefinition): string[] {
  const found = findings(spec);
  const before = old === undefined ? undefined : findings(old.spec);
  const isNew = (kind: keyof typeof found) => (warning: string) => before?.[kind].includes(warning) !== true;
  return [...found.formats.filter(isNew('formats')), ...[...new Set(found.sets)].sort().filter(isNew('sets'))];
}

function findings({ versions = [] }: CustomResourceDefinition['spec']): { formats: string[]; sets: string[] } {
  const formats: string[] = [];
  const sets: string[] = [];
  for (const { schema } of versions ?? []) {
    for (const part of partsOf(schema?.openAPIV3Schema)) {
      const { type = '', format, items } = part;
      if (typeof format === 'string' && format !== '' && !isKnownFormat(type, format)) {
        formats.push(`unrecognized format ${JSON.stringify(format)}`);
      }
      const itemType = isSchema(items) ? items.type : undefined;
      if (part['x-kubernetes-list-type'] !== 'set' || (itemType !== 'object' && itemType !== 'array')) continue;
      const shown = `x-kubernetes-list-type: set for items of type "${itemType}"`;
      sets.push(`${shown} is not supported by server-side apply or CEL validation rules`);
    }
  }
  return { formats, sets };
}

function isKnownFormat(type: unknown, format: string): boolean {
  if (type === '' || type === 'string') return textFormats.has(format.replaceAll('-', ''));
  return type === 'integer' || type === 'number' ? numberFormats[type]?.includes(format) === true : false;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A schema and all schemas in it, from the outermost on. */
function partsOf(root: unknown): Schema[] {
  const parts: Schema[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const schema = open.pop();
    if (!isSchema(schema)) continue;
    parts.push(schema);
    const { items, allOf, anyOf, oneOf, not, properties, additionalProperties } = schema;
    const lists = [items, allOf, anyOf, oneOf, not].flat();
    const named = isSchema(properties) ? Object.values(properties) : [];
    open.push(...[...lists, ...named, additionalProperties].reverse());
  }
  return parts;
}
