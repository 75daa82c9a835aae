import type { CustomOwnership } from '../../../base/machinery/schema/index.js';
import type { StructuralSchema } from '../structural/index.js';

const any: CustomOwnership = { kind: 'any' };
const set: CustomOwnership = { kind: 'set' };

type Leaf = Extract<CustomOwnership, { kind: 'leaf' }>;

function leaf(expected: Leaf['expected']): Leaf {
  return { kind: 'leaf', expected };
}

function declared(fields: ReadonlyMap<string, CustomOwnership>): CustomOwnership {
  return { kind: 'object', field: (name) => fields.get(name), others: undefined };
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

function objectOwnership(schema: StructuralSchema): CustomOwnership {
  const { properties, additionalProperties, xPreserve, xEmbedded } = schema;
  if (typeof additionalProperties === 'object') return { kind: 'map', value: fieldOwnership(additionalProperties) };
  if (properties.size === 0 && !xEmbedded) {
    if (xPreserve || additionalProperties === true) return { kind: 'map', value: any };
  }
  const field = (name: string) => {
    const known = xEmbedded ? objectFields.get(name) : undefined;
    const property = properties.get(name);
    return known ?? (property === undefined ? undefined : fieldOwnership(property));
  };
  return { kind: 'object', field, others: xPreserve || additionalProperties === true ? any : undefined };
}

/** How fields are owned that the schema of a whole object does not name; undefined if it has no other fields. */
export function otherFields({ additionalProperties, xPreserve }: StructuralSchema): CustomOwnership | undefined {
  return xPreserve || (additionalProperties !== undefined && additionalProperties !== false) ? any : undefined;
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

/** The fields that every object has, for an object that is nested in another one. */
const objectFields: ReadonlyMap<string, CustomOwnership> = new Map<string, CustomOwnership>([
  ['apiVersion', text],
  ['kind', text],
  [
    'metadata',
    declared(
      new Map<string, CustomOwnership>([
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
            element: declared(
              new Map<string, CustomOwnership>([
                ...['apiVersion', 'kind', 'name', 'uid'].map((name) => [name, text] as const),
                ['controller', bool],
                ['blockOwnerDeletion', bool],
              ]),
            ),
          },
        ],
      ]),
    ),
  ],
]);
