import type { CustomShape } from '../../../base/machinery/schema/index.js';
import type { StructuralSchema } from '../structural/index.js';

const any: CustomShape = { kind: 'any' };
const text: CustomShape = { kind: 'string' };

/** The JSON shape of the values of a schema. */
export function fieldShape(schema: StructuralSchema): CustomShape {
  if (schema.xIntOrString) return any;
  switch (schema.type) {
    case 'array':
      return { kind: 'list', element: schema.items === undefined ? any : fieldShape(schema.items) };
    case 'object':
      return objectShape(schema);
    case undefined:
      return any;
    default:
      return { kind: schema.type };
  }
}

function objectShape({ properties, additionalProperties, xPreserve, xEmbedded }: StructuralSchema): CustomShape {
  if (typeof additionalProperties === 'object') return { kind: 'map', value: fieldShape(additionalProperties) };
  const field = (name: string): CustomShape | undefined => {
    if (xEmbedded && (name === 'apiVersion' || name === 'kind')) return text;
    // In metadata, a schema may only restrict the name.
    if (xEmbedded && name === 'metadata') return any;
    const property = properties.get(name);
    return property === undefined ? undefined : fieldShape(property);
  };
  return { kind: 'object', field, isOpen: xPreserve || additionalProperties === true };
}
