import type { FieldPath, ShownValue } from '../field-error.js';
import { jsonFields, type ResolvedType, resolveType } from './access.js';
import { structForm } from './struct-form.js';
import type { KindType, SchemaType } from './types.js';

/** How messages about the fields of a kind show wrong values: in the form of {@link structForm}, where it has one. */
export function shownValue(kind: KindType): ShownValue {
  return (path, value) => {
    const [parent, own] = typesAt(kind, path).slice(-2);
    // A message about a field may show the struct that the field is in.
    const isSimple = own?.type === 'scalar' || own?.type === 'enum';
    const type = isSimple ? parent : own;
    return (type === undefined ? undefined : structForm(type, value)) ?? value;
  };
}

/** The declarations on the way to a place, its own as the last; none where the path leads to no declared place. */
function typesAt(kind: KindType, path: FieldPath): ResolvedType[] {
  const types: ResolvedType[] = [kind];
  for (const { name, isKey } of path.segments()) {
    const next = below(types.at(-1) as ResolvedType, name, isKey);
    if (next === undefined) return [];
    types.push(resolveType(next));
  }
  return types;
}

function below(type: ResolvedType, name: string, isKey: boolean): SchemaType | undefined {
  if (type.type === 'struct') return isKey || type.custom !== undefined ? undefined : jsonFields(type).get(name)?.type;
  if (!isKey) return undefined;
  if (type.type === 'list') return type.element;
  return type.type === 'map' ? type.value : undefined;
}
