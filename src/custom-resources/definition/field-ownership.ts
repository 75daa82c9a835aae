import type { CustomOwnership } from '../../machinery/schema/index.js';
import type { StructuralSchema } from '../structural/index.js';

const any: CustomOwnership = { kind: 'any' };
const set: CustomOwnership = { kind: 'set' };

type Leaf = Extract<CustomOwnership, { kind: 'leaf' }>;

function leaf(expected: Leaf['expected']): Leaf {
  return { kind: 'leaf', expected };
}

const text = leaf('string');
const bool = leaf('boolean');
const texts: CustomOwnership = { kind: 'map', value: text };

/** How the fields of a schema are owned under server-side apply, by its merge markers (specification 5.9). */
export function fieldOwnership(schema: StructuralSchema): CustomOwnership {
  if (schema.xIntOrString) return leaf('scalar');
  switch (schema.type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return leaf('number');
    case 'boolean':
      return bool;
    case 'array':
      return listOwnership(schema);
    case 'object':
      return schema.xMapType === 'atomic' ? leaf('map') : objectOwnership(schema);
    case undefined:
      return any;
  }
}

/** The same for the fields of an object. */
export function objectOwnership(schema: StructuralSchema): CustomOwnership {
  const { properties, additionalProperties, xPreserve, xEmbedded } = schema;
  if (typeof additionalProperties === 'object') return { kind: 'map', value: fieldOwnership(additionalProperties) };
  if (properties.size === 0 && !xEmbedded) {
    if (xPreserve || additionalProperties === true) return { kind: 'map', value: any };
  }
  const fields = new Map<string, CustomOwnership>(xEmbedded ? objectFields : []);
  for (const [name, property] of properties) {
    if (!xEmbedded || !objectFields.has(name)) fields.set(name, fieldOwnership(property));
  }
  return { kind: 'object', fields, others: xPreserve || additionalProperties === true ? any : undefined };
}

function listOwnership({ xListType, xListMapKeys, items }: StructuralSchema): CustomOwnership {
  if (xListType === 'set') return set;
  if (xListType !== 'map' || items === undefined) return leaf('list');
  const keys = xListMapKeys.map((name) => ({ name, default: scalarDefault(items.properties.get(name)) }));
  return { kind: 'keyed', element: fieldOwnership(items), keys };
}

function scalarDefault(schema: StructuralSchema | undefined): string | number | boolean | undefined {
  const value = schema?.default;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** The fields that every object has, where one stands within another. */
const objectFields: ReadonlyMap<string, CustomOwnership> = new Map<string, CustomOwnership>([
  ['apiVersion', text],
  ['kind', text],
  [
    'metadata',
    {
      kind: 'object',
      fields: new Map<string, CustomOwnership>([
        ...['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'].map(
          (name) => [name, text] as const,
        ),
        ['generation', leaf('number')],
        ['creationTimestamp', text],
        ['deletionTimestamp', text],
        ['deletionGracePeriodSeconds', leaf('number')],
        ['labels', texts],
        ['annotations', texts],
        ['finalizers', set],
        ['managedFields', leaf('list')],
        [
          'ownerReferences',
          {
            kind: 'keyed',
            keys: [{ name: 'uid', default: undefined }],
            element: {
              kind: 'object',
              fields: new Map<string, CustomOwnership>([
                ...['apiVersion', 'kind', 'name', 'uid'].map((name) => [name, text] as const),
                ['controller', bool],
                ['blockOwnerDeletion', bool],
              ]),
              others: undefined,
            },
          },
        ],
      ]),
      others: undefined,
    },
  ],
]);
