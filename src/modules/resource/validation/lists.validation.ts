import { duplicate, type FieldError, type FieldPath, tooMany } from '../../../base/machinery/field-error.js';
import { declared } from './declared.js';

type ItemRule<T> = (item: T, path: FieldPath) => FieldError[];

/** Validates a list with at most `max` items. The items of a longer list are not checked. */
export function validateItems<T>(
  items: readonly T[] | null | undefined,
  max: number,
  path: FieldPath,
  rule: ItemRule<T>,
): FieldError[] {
  const list = items ?? [];
  if (list.length > max) return [tooMany(path, list.length, max)];
  return list.flatMap((item, i) => rule(item, path.index(i)));
}

/**
 * Like {@link validateItems}, for items that must have different keys.
 *
 * @param shown what the message about a second item with the same key shows; default: the key
 */
export function validateUniqueItems<T>(
  items: readonly T[] | null | undefined,
  max: number,
  path: FieldPath,
  rule: ItemRule<T>,
  keyOf: (item: T) => string,
  shown: (item: T) => unknown = keyOf,
): FieldError[] {
  const list = items ?? [];
  const errors = validateItems(list, max, path, rule);
  return list.length > max ? errors : [...errors, ...duplicates(list, path, keyOf, shown)];
}

/** Like {@link validateUniqueItems}, where the number of items and their keys are declared with the type. */
export function validateDeclaredSet<T>(
  items: readonly T[] | null | undefined,
  max: number,
  path: FieldPath,
  rule: ItemRule<T>,
  keyOf: (item: T) => string,
): FieldError[] {
  const list = items ?? [];
  if (list.length > max) return declared(validateItems(list, max, path, rule));
  return [...declared(duplicates(list, path, keyOf)), ...validateItems(list, max, path, rule)];
}

function asWritten(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? { toJSON: () => value } : value;
}

/** Errors for items with the key of an earlier item. */
export function duplicates<T>(
  list: readonly T[],
  path: FieldPath,
  keyOf: (item: T) => string,
  shown: (item: T) => unknown = (item) => item,
): FieldError[] {
  const keys = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, item] of list.entries()) {
    const key = keyOf(item);
    // Rules that are declared with the types show values as clients write them.
    if (keys.has(key)) errors.push(duplicate(path.index(i), asWritten(shown(item))));
    keys.add(key);
  }
  return errors;
}
