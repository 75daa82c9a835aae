import type { Field, SchemaType, StructType } from './types.js';

/** A declaration with lazy references resolved. */
export type ResolvedType = Exclude<SchemaType, { readonly type: 'lazy' }>;

/** The declaration that a lazy reference stands for; other declarations unchanged. */
export function resolveType(type: SchemaType): ResolvedType {
  return type.type === 'lazy' ? type.resolve() : type;
}

const fieldMaps = new WeakMap<StructType, ReadonlyMap<string, Field>>();

/**
 * The JSON view of a struct: fields by name in declared order, with inline structs expanded, without `apiVersion` and
 * `kind`. Built once per struct.
 */
export function jsonFields(type: StructType): ReadonlyMap<string, Field> {
  let fields = fieldMaps.get(type);
  if (fields === undefined) {
    const collected = new Map<string, Field>();
    collectFields(type, collected);
    fields = collected;
    fieldMaps.set(type, fields);
  }
  return fields;
}

function collectFields(type: StructType, into: Map<string, Field>): void {
  for (const field of type.fields) {
    if (field.presence === 'inline') collectFields(field.type as StructType, into);
    else into.set(field.name, field);
  }
}
