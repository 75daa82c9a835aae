import { CelError } from '../cel-error.js';
import type { Evaluation } from '../evaluation.js';
import type { LibraryBuilder } from '../function-table.js';
import { binaryOperators, noSuchOverload } from '../operators.js';
import { type CelType, listOf, optionalOf, types } from '../values/cel-type.js';
import { compareCelValues, equals } from '../values/equality.js';
import { Span } from '../values/time.js';
import {
  isList,
  type JsonList,
  ListValue,
  listItem,
  listSize,
  OptionalValue,
  Uint,
  type Value,
} from '../values/value.js';

const { a, bool, bytes, double, duration, int, string, timestamp, uint } = types;

type AnyList = ListValue | JsonList;

function isSorted({ budget }: Evaluation, list: AnyList): boolean {
  for (let i = 1; i < listSize(list); i++) {
    budget.charge(1);
    const order = compareCelValues(listItem(list, i - 1), listItem(list, i), budget);
    if (order === undefined) throw noSuchOverload();
    if (!(order <= 0)) return false;
  }
  return true;
}

function extreme(name: string, isBetter: (order: number) => boolean) {
  return ({ budget }: Evaluation, list: AnyList): Value => {
    const size = listSize(list);
    if (size === 0) throw new CelError(`${name} called on empty list`);
    let best = listItem(list, 0);
    for (let i = 1; i < size; i++) {
      budget.charge(1);
      const order = compareCelValues(listItem(list, i), best, budget);
      if (order === undefined) throw noSuchOverload();
      if (isBetter(order)) best = listItem(list, i);
    }
    return best;
  };
}

function sum(zero: Value) {
  const add = binaryOperators['_+_'] as NonNullable<(typeof binaryOperators)[string]>;
  return (evaluation: Evaluation, list: AnyList): Value => {
    let total = listSize(list) === 0 ? zero : listItem(list, 0);
    if (
      typeof total !== 'bigint' &&
      typeof total !== 'number' &&
      !(total instanceof Uint) &&
      !(total instanceof Span)
    ) {
      throw noSuchOverload();
    }
    for (let i = 1; i < listSize(list); i++) {
      evaluation.budget.charge(1);
      total = add(evaluation, total, listItem(list, i));
    }
    return total;
  };
}

function indexOf({ budget }: Evaluation, list: AnyList, item: Value, isLast: boolean): bigint {
  const size = listSize(list);
  for (let step = 0; step < size; step++) {
    const i = isLast ? size - 1 - step : step;
    budget.charge(1);
    if (equals(listItem(list, i), item, budget)) return BigInt(i);
  }
  return -1n;
}

function itemsOf({ budget }: Evaluation, list: AnyList): Value[] {
  const size = listSize(list);
  budget.charge(size);
  return Array.from({ length: size }, (_, i) => listItem(list, i));
}

/** The part of a list from `start` up to `end`, which does not belong to it. */
function slice(evaluation: Evaluation, list: AnyList, start: bigint, end: bigint): Value {
  const size = BigInt(listSize(list));
  if (start < 0n || end < 0n) {
    throw new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`);
  }
  if (start > end) {
    throw new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  }
  if (size < end) throw new CelError(`cannot slice(${start}, ${end}), list is length ${size}`);
  evaluation.budget.charge(Number(end - start));
  const items: Value[] = [];
  for (let i = Number(start); i < Number(end); i++) items.push(listItem(list, i));
  return new ListValue(items);
}

/** The items of lists within a list, down to `depth` lists within each other. */
function flatten(evaluation: Evaluation, list: AnyList, depth: bigint): ListValue {
  if (depth < 0n) throw new CelError('level must be non-negative');
  const items = itemsOf(evaluation, list);
  if (depth === 0n) return new ListValue(items);
  const flat: Value[] = [];
  for (const item of items) {
    if (!isList(item)) flat.push(item);
    // One by one: a spread of a long list would not fit onto the stack.
    else for (const inner of flatten(evaluation, item, depth - 1n).items) flat.push(inner);
  }
  return new ListValue(flat);
}

function distinct({ budget }: Evaluation, list: AnyList): Value {
  const kept: Value[] = [];
  for (let i = 0; i < listSize(list); i++) {
    const item = listItem(list, i);
    budget.charge(kept.length + 1);
    if (!kept.some((known) => equals(known, item, budget))) kept.push(item);
  }
  return new ListValue(kept);
}

function sort(evaluation: Evaluation, list: AnyList): Value {
  const { budget } = evaluation;
  const items = itemsOf(evaluation, list).sort((one, other) => {
    budget.charge(1);
    const order = compareCelValues(one, other, budget);
    if (order === undefined) throw noSuchOverload();
    return order;
  });
  return new ListValue(items);
}

/** The items of a list in the order of their keys, which are in a list of their own. */
function sortByKeys(evaluation: Evaluation, list: AnyList, keys: AnyList): Value {
  const { budget } = evaluation;
  const items = itemsOf(evaluation, list);
  const order = itemsOf(evaluation, keys).map((key, i) => ({ key, item: items[i] as Value }));
  order.sort((one, other) => {
    budget.charge(1);
    const result = compareCelValues(one.key, other.key, budget);
    if (result === undefined) throw noSuchOverload();
    return result;
  });
  return new ListValue(order.map(({ item }) => item));
}

function range({ budget }: Evaluation, size: bigint): Value {
  if (size < 0n) return new ListValue([]);
  // Charged before the list is made.
  budget.charge(size > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(size));
  return new ListValue(Array.from({ length: Number(size) }, (_, i) => BigInt(i)));
}

/** Functions that make other lists of lists. */
function otherLists(library: LibraryBuilder, ordered: readonly CelType[]): void {
  const list = listOf(a);
  for (const type of ordered) {
    library
      .method('sort', [listOf(type)], listOf(type), sort)
      .method('@sortByAssociatedKeys', [list, listOf(type)], list, sortByKeys);
  }
  library
    .fn('lists.range', [int], listOf(int), range)
    .method('slice', [list, int, int], list, slice)
    .method('flatten', [listOf(list)], list, (e, from: AnyList) => flatten(e, from, 1n))
    .method('flatten', [listOf(types.dyn), int], listOf(types.dyn), flatten)
    .method('distinct', [list], list, distinct)
    .method('reverse', [list], list, (e, from: AnyList) => new ListValue(itemsOf(e, from).reverse()))
    .method('first', [list], optionalOf(a), (_, from: AnyList) =>
      listSize(from) === 0 ? OptionalValue.none : OptionalValue.of(listItem(from, 0)),
    )
    .method('last', [list], optionalOf(a), (_, from: AnyList) =>
      listSize(from) === 0 ? OptionalValue.none : OptionalValue.of(listItem(from, listSize(from) - 1)),
    );
}

/** Functions of lists. */
export function lists(library: LibraryBuilder): void {
  const ordered = [int, uint, double, bool, duration, timestamp, string, bytes];
  for (const type of ordered) {
    library
      .method('isSorted', [listOf(type)], bool, isSorted)
      .method(
        'min',
        [listOf(type)],
        type,
        extreme('min', (order) => order < 0),
      )
      .method(
        'max',
        [listOf(type)],
        type,
        extreme('max', (order) => order > 0),
      );
  }
  otherLists(library, ordered);
  const zeros: readonly (readonly [CelType, Value])[] = [
    [int, 0n],
    [uint, new Uint(0n)],
    [double, 0],
    [duration, Span.of(0n)],
  ];
  for (const [type, zero] of zeros) library.method('sum', [listOf(type)], type, sum(zero));
  library
    .method('indexOf', [listOf(a), a], int, (e, list: AnyList, item: Value) => indexOf(e, list, item, false))
    .method('lastIndexOf', [listOf(a), a], int, (e, list: AnyList, item: Value) => indexOf(e, list, item, true));
}

/** Functions that take lists as sets. Time grows with the product of their sizes, which is charged. */
export function sets(library: LibraryBuilder): void {
  const has = ({ budget }: Evaluation, list: AnyList, item: Value): boolean => {
    for (let i = 0; i < listSize(list); i++) {
      budget.charge(1);
      if (equals(listItem(list, i), item, budget)) return true;
    }
    return false;
  };
  const every = (e: Evaluation, list: AnyList, holds: (item: Value) => boolean): boolean => {
    for (let i = 0; i < listSize(list); i++) {
      e.budget.charge(1);
      if (!holds(listItem(list, i))) return false;
    }
    return true;
  };
  const contains = (e: Evaluation, list: AnyList, part: AnyList): boolean =>
    every(e, part, (item) => has(e, list, item));
  const two = [listOf(a), listOf(a)];
  library
    .fn('sets.contains', two, bool, contains)
    .fn('sets.equivalent', two, bool, (e, x: AnyList, y: AnyList) => contains(e, x, y) && contains(e, y, x))
    .fn('sets.intersects', two, bool, (e, x: AnyList, y: AnyList) => !every(e, y, (item) => !has(e, x, item)));
}
