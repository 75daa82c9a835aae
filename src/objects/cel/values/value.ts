import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import type { Budget } from '../budget.js';
import type { Span, Timestamp } from './time.js';

/**
 * A value of an expression:
 *
 * - bool, string, null and bytes (Uint8Array) as such,
 * - int as a bigint, double as a number, uint as a {@link Uint},
 * - lists and maps that an expression made as {@link ListValue} and {@link MapValue},
 * - lists and maps from outside: plain arrays and objects of JSON values, which are never copied. Only the
 *   numbers in them need a conversion when they are read ({@link fromJson}).
 */
export type Value =
  | null
  | boolean
  | string
  | bigint
  | number
  | Uint
  | Uint8Array
  | Timestamp
  | Span
  | ListValue
  | MapValue
  | OptionalValue
  | TypeValue
  | MessageValue
  | OpaqueValue
  | LazyObject
  | JsonList
  | CelJsonObject;

export type JsonList = readonly unknown[];
export interface CelJsonObject {
  readonly [key: string]: unknown;
}

/** An unsigned integer. */
export class Uint {
  constructor(readonly value: bigint) {}
}

/** A list that an expression made. */
export class ListValue {
  constructor(readonly items: readonly Value[]) {}
}

/** A list with its own equality and addition: as a set, or by the keys of its elements. */
export abstract class CombiningList extends ListValue {
  /** Charges for the work. */
  abstract equalTo(other: ListValue | JsonList, budget: Budget): boolean;
  /** The list together with the elements of another list. Charges for the work. */
  abstract plus(other: ListValue | JsonList, budget: Budget): ListValue;
}

/** Key of a {@link MapValue}: numbers of all types are the same key if they are equal. */
export type MapKey = string | bigint | boolean;

/** A map that an expression made. */
export class MapValue {
  constructor(readonly entries: ReadonlyMap<MapKey, { readonly key: Value; readonly value: Value }>) {}
}

/** A value that may be missing. */
export class OptionalValue {
  static readonly none = new OptionalValue(undefined);

  static of(value: Value): OptionalValue {
    return new OptionalValue(value);
  }

  private constructor(readonly value: Value | undefined) {}
}

/** The name of a type as a value: `type(1) == int`. */
export class TypeValue {
  constructor(readonly name: string) {}
}

/** A value made with the syntax `Name{field: value}`. */
export class MessageValue {
  constructor(
    readonly typeName: string,
    readonly fields: ReadonlyMap<string, Value>,
  ) {}
}

/** A value with methods and without fields: a quantity, an address, a check by an authorizer. */
export abstract class OpaqueValue {
  /** Name of its type in messages. */
  abstract readonly typeName: string;
  /** Whether it equals another value of the same type. */
  abstract equals(other: OpaqueValue): boolean;
}

/** An object whose fields are computed when they are read. */
export abstract class LazyObject {
  /** The value of a field; undefined if there is none. May throw like any evaluation, and charges for its work. */
  abstract get(field: string, budget: Budget): Value | undefined;

  /** Whether the object equals another one. Charges for the work. */
  equals(other: LazyObject, _budget: Budget): boolean {
    return this === other;
  }
}

/** Whether a value is a list. */
export function isList(value: Value): value is ListValue | JsonList {
  return value instanceof ListValue || Array.isArray(value);
}

/** Whether a value is a map. */
export function isMap(value: Value): value is MapValue | CelJsonObject {
  return value instanceof MapValue || isJsonObject(value);
}

/** Whether a value is a plain object of JSON values. */
export function isJsonObject(value: unknown): value is CelJsonObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A JSON value as a value of expressions. Costs nothing for lists and maps. */
export function fromJson(json: unknown): Value {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (json instanceof ExactNumber) return json.valueOf();
  if (typeof json === 'bigint') return BigInt.asIntN(64, json) === json ? json : Number(json);
  return json === undefined ? null : (json as Value);
}

/** Number of elements. */
export function listSize(list: ListValue | JsonList): number {
  return list instanceof ListValue ? list.items.length : list.length;
}

/** Element `index`, which must exist. */
export function listItem(list: ListValue | JsonList, index: number): Value {
  return list instanceof ListValue ? (list.items[index] as Value) : fromJson(list[index]);
}

/** All elements, without a copy if an expression made the list. */
export function listItems(list: ListValue | JsonList): readonly Value[] {
  return list instanceof ListValue ? list.items : list.map(fromJson);
}

/** Number of entries. */
export function mapSize(map: MapValue | CelJsonObject): number {
  return map instanceof MapValue ? map.entries.size : Object.keys(map).length;
}

/** The value of a key; undefined if the map does not have it. */
export function mapGet(map: MapValue | CelJsonObject, key: Value): Value | undefined {
  if (map instanceof MapValue) {
    const known = mapKey(key);
    return known === undefined ? undefined : map.entries.get(known)?.value;
  }
  return typeof key === 'string' && Object.hasOwn(map, key) ? fromJson(map[key]) : undefined;
}

/** Whether a map has a key. */
export function mapHas(map: MapValue | CelJsonObject, key: Value): boolean {
  if (!(map instanceof MapValue)) return mapGet(map, key) !== undefined;
  const known = mapKey(key);
  return known !== undefined && map.entries.has(known);
}

/** The keys in order. */
export function mapKeys(map: MapValue | CelJsonObject): readonly Value[] {
  return map instanceof MapValue ? [...map.entries.values()].map((entry) => entry.key) : Object.keys(map);
}

/** The form in which a map keeps a key; undefined for values that can't be keys of a map. */
export function mapKey(value: Value): MapKey | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  return undefined;
}
