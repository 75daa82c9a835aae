import type { FieldPath, ShownValue } from '../field-error.js';
import { jsonFields, type ResolvedType, resolveType } from './access.js';
import { givenBody, isEmptyList, memberOf } from './given-body.js';
import { structForm } from './struct-form.js';
import type { KindType, SchemaType } from './types.js';

/**
 * How messages about the fields of a kind show wrong values: in the form of {@link structForm}, if the value has one.
 * A list that a client sent as an empty one is shown like that.
 *
 * @param object the object with the wrong values
 */
export function shownValue(kind: KindType, object: object): ShownValue {
  const body = givenBody(object);
  return (path, value) => {
    const given =
      body === undefined ? undefined : path.segments().reduce((at: unknown, { name }) => memberOf(at, name), body);
    if (value === null || value === undefined) return isEmptyList(given) ? given : value;
    const [parent, own] = typesAt(kind, path).slice(-2);
    // A message about a field may show the struct that contains the field, or one element of a list.
    const element = own?.type === 'list' ? own.element : undefined;
    for (const type of [own, parent, element]) {
      if (type === undefined || isSimple(type)) continue;
      const form = structForm(type, value, given);
      if (form !== undefined) return form;
    }
    return value;
  };
}

/** Whether a type has no struct form of its own: any value would be accepted as one. */
function isSimple(type: SchemaType): boolean {
  const { type: resolved } = resolveType(type);
  return resolved === 'scalar' || resolved === 'enum';
}

/** The declarations along a path, that of its end last; none if the path leads to no declared field. */
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
