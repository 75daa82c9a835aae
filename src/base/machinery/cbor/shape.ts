import { jsonFields, resolveType } from '../schema/access.js';
import type { SchemaType } from '../schema/types.js';

/**
 * Where values of a type have bytes, which JSON shows in base64 and CBOR does not. The shape of a list is that of its
 * elements.
 */
export type CborShape = 'bytes' | { readonly fields: ReadonlyMap<string, CborShape> } | { readonly each: CborShape };

const shapes = new WeakMap<SchemaType, CborShape | undefined>();

/** The shape of a type; undefined when none of its values has bytes. */
export function cborShapeOf(type: SchemaType): CborShape | undefined {
  if (!shapes.has(type)) shapes.set(type, makeShape(type));
  return shapes.get(type);
}

/** The shape of a value in which one field has a shape. */
export function shapeAt(field: string, shape: CborShape | undefined): CborShape | undefined {
  return shape === undefined ? undefined : { fields: new Map([[field, shape]]) };
}

function makeShape(type: SchemaType): CborShape | undefined {
  if (!hasBytes(type, new Set())) return undefined;
  const resolved = resolveType(type);
  switch (resolved.type) {
    case 'list':
      return cborShapeOf(resolved.element);
    case 'map': {
      const each = cborShapeOf(resolved.value);
      return each === undefined ? undefined : { each };
    }
    case 'variant':
      return cborShapeOf(resolved.struct);
    case 'struct': {
      const fields = new Map<string, CborShape>();
      // Recorded before its fields are complete: they may be of the same type.
      const shape = { fields };
      shapes.set(type, shape);
      shapes.set(resolved, shape);
      for (const [name, field] of jsonFields(resolved)) {
        const inner = cborShapeOf(field.type);
        if (inner !== undefined) fields.set(name, inner);
      }
      return shape;
    }
    default:
      return 'bytes';
  }
}

function hasBytes(type: SchemaType, seen: Set<SchemaType>): boolean {
  const resolved = resolveType(type);
  if (seen.has(resolved)) return false;
  seen.add(resolved);
  switch (resolved.type) {
    case 'scalar':
      return resolved.scalar === 'bytes';
    case 'list':
      return hasBytes(resolved.element, seen);
    case 'map':
      return hasBytes(resolved.value, seen);
    case 'variant':
      return hasBytes(resolved.struct, seen);
    case 'struct':
      return [...jsonFields(resolved).values()].some((field) => hasBytes(field.type, seen));
    default:
      return false;
  }
}
