import { Span, Timestamp } from './time.js';
import {
  isJsonObject,
  isList,
  isMap,
  LazyObject,
  ListValue,
  MapValue,
  MessageValue,
  OpaqueValue,
  OptionalValue,
  TypeValue,
  Uint,
  type Value,
} from './value.js';

/** The type of a value as far as it is known before evaluation. */
export type CelType =
  /** `maxSize`: the most characters or bytes of values declared with a limit; 0 for types without a size. */
  | { readonly kind: ScalarKind; readonly maxSize?: number }
  | { readonly kind: 'list'; readonly element: CelType; readonly maxSize?: number; readonly parts?: number }
  | {
      readonly kind: 'map';
      readonly key: CelType;
      readonly value: CelType;
      readonly maxSize?: number;
      readonly parts?: number;
      /** For size estimates: a selected field has the declared size of the map's values. */
      readonly hasSizedFields?: true;
    }
  | { readonly kind: 'optional'; readonly value: CelType; readonly parts?: number }
  /** A value with methods only. */
  | { readonly kind: 'opaque'; readonly name: string }
  /**
   * A JSON object, or a {@link LazyObject}, with known fields. A closed one has no keys that an expression could list
   * or look up.
   */
  | {
      readonly kind: 'object';
      readonly name: string;
      readonly fields: (name: string) => CelType | undefined;
      readonly isClosed?: boolean;
    }
  /** What `Name{...}` makes. */
  | { readonly kind: 'message'; readonly name: string }
  /** Stands for any type in declarations of functions; equal names stand for equal types. */
  | { readonly kind: 'parameter'; readonly name: string };

export type ScalarKind =
  | 'dyn'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type';

function scalar(kind: ScalarKind): CelType {
  return Object.freeze({ kind });
}

/** The simple types. */
export const types = Object.freeze({
  dyn: scalar('dyn'),
  null: scalar('null'),
  bool: scalar('bool'),
  int: scalar('int'),
  uint: scalar('uint'),
  double: scalar('double'),
  string: scalar('string'),
  bytes: scalar('bytes'),
  timestamp: scalar('timestamp'),
  duration: scalar('duration'),
  type: scalar('type'),
  a: Object.freeze({ kind: 'parameter', name: 'A' }) as CelType,
  b: Object.freeze({ kind: 'parameter', name: 'B' }) as CelType,
});

/** The most parts of a type; a larger part becomes dyn, because comparing types takes time for each part. */
const maxTypeParts = 24;

function partsOf(type: CelType): number {
  return 'parts' in type ? (type.parts ?? 1) : 1;
}

function bounded(type: CelType, budget: number): CelType {
  return partsOf(type) < budget ? type : types.dyn;
}

/** @param maxSize the most elements, where that is declared */
export function listOf(type: CelType, maxSize?: number): CelType {
  const element = bounded(type, maxTypeParts);
  const list = { kind: 'list', element, parts: 1 + partsOf(element) } as const;
  return maxSize === undefined ? list : { ...list, maxSize };
}

/** @param maxSize the most entries, where that is declared */
export function mapOf(key: CelType, value: CelType, maxSize?: number): CelType {
  const known = bounded(key, maxTypeParts / 2);
  const inner = bounded(value, maxTypeParts - partsOf(known));
  const map = { kind: 'map', key: known, value: inner, parts: 1 + partsOf(known) + partsOf(inner) } as const;
  return maxSize === undefined ? map : { ...map, maxSize };
}

/** A simple type whose values have at most the given number of characters or bytes. */
export function sized(kind: ScalarKind, maxSize: number): CelType {
  return { kind, maxSize };
}

export function optionalOf(type: CelType): CelType {
  const value = bounded(type, maxTypeParts);
  return { kind: 'optional', value, parts: 1 + partsOf(value) };
}

export function opaque(name: string): CelType {
  return { kind: 'opaque', name };
}

/** An object type with fixed fields. */
export function objectTypeOf(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return { kind: 'object', name, fields: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined) };
}

/** Names of the simple types as values. */
export const typeNames: ReadonlySet<string> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'optional_type',
]);

/** The type as messages spell it: `list(int)`, `map(string, dyn)`. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeName(type.element)})`;
    case 'map':
      return `map(${typeName(type.key)}, ${typeName(type.value)})`;
    case 'optional':
      return `optional_type(${typeName(type.value)})`;
    case 'opaque':
    case 'object':
    case 'message':
    case 'parameter':
      return type.name;
    default:
      return type.kind;
  }
}

const declaredNames: readonly (readonly [RegExp, string])[] = [
  [/\bnull\b/g, 'null_type'],
  [/(?<![.\w])timestamp\b/g, 'google.protobuf.Timestamp'],
  [/(?<![.\w])duration\b/g, 'google.protobuf.Duration'],
];

/** The type of the result of an expression, whose messages have the names under which types are declared. */
export function resultTypeName(type: CelType): string {
  return declaredNames.reduce((name, [short, declared]) => name.replaceAll(short, declared), typeName(type));
}

/** The type name of a value, as the function `type` returns it. */
export function valueTypeName(value: Value): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
  }
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Span) return 'google.protobuf.Duration';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof OptionalValue) return 'optional_type';
  if (value instanceof MessageValue || value instanceof OpaqueValue) return value.typeName;
  return isList(value) ? 'list' : 'map';
}

/** Whether a value is of a type, without checking elements and fields. */
export function hasType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return true;
    case 'null':
      return value === null;
    case 'bool':
      return typeof value === 'boolean';
    case 'string':
      return typeof value === 'string';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'uint':
      return value instanceof Uint;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Span;
    case 'type':
      return value instanceof TypeValue;
    case 'list':
      return value instanceof ListValue || Array.isArray(value);
    case 'map':
      return value instanceof MapValue || isMap(value);
    case 'optional':
      return value instanceof OptionalValue;
    case 'opaque':
      return value instanceof OpaqueValue && value.typeName === type.name;
    case 'message':
      return value instanceof MessageValue && value.typeName === type.name;
    case 'object':
      return value instanceof LazyObject || isJsonObject(value);
  }
}

/** The types that the parameters in a function's declaration stand for in one call. */
export type Bindings = Map<string, CelType>;

/** Whether an argument of type `from` may be given where `to` is declared. Unknown types are allowed everywhere. */
export function isAssignable(to: CelType, from: CelType, bindings: Bindings): boolean {
  if (to.kind === 'parameter') {
    const bound = bindings.get(to.name);
    if (bound === undefined || (bound.kind === 'dyn' && from.kind !== 'dyn')) {
      bindings.set(to.name, from);
      return true;
    }
    return isAssignable(bound, from, bindings) || isAssignable(from, bound, bindings);
  }
  if (to.kind === 'dyn' || from.kind === 'dyn' || from.kind === 'parameter') return true;
  if (from.kind === 'null') return to.kind === 'null' || nullableKinds.has(to.kind);
  if (to.kind === 'null') return nullableKinds.has(from.kind);
  if (to.kind !== from.kind) return isObjectAndMap(to, from) || isObjectAndMap(from, to);
  switch (to.kind) {
    case 'list':
      return isAssignable(to.element, (from as typeof to).element, bindings);
    case 'map':
      return (
        isAssignable(to.key, (from as typeof to).key, bindings) &&
        isAssignable(to.value, (from as typeof to).value, bindings)
      );
    case 'optional':
      return isAssignable(to.value, (from as typeof to).value, bindings);
    case 'opaque':
    case 'object':
    case 'message':
      return to.name === (from as typeof to).name;
    default:
      return true;
  }
}

const nullableKinds: ReadonlySet<CelType['kind']> = new Set([
  'opaque',
  'object',
  'message',
  'timestamp',
  'duration',
  'optional',
]);

/** Only an object whose keys can be listed may be a map without known keys. */
function isObjectAndMap(a: CelType, b: CelType): boolean {
  return a.kind === 'map' && a.key.kind === 'dyn' && b.kind === 'object' && b.isClosed !== true;
}

/** A declared type with the parameters replaced by what they stand for. */
export function substitute(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'parameter':
      return bindings.get(type.name) ?? types.dyn;
    case 'list':
      return listOf(substitute(type.element, bindings));
    case 'map':
      return mapOf(substitute(type.key, bindings), substitute(type.value, bindings));
    case 'optional':
      return optionalOf(substitute(type.value, bindings));
    default:
      return type;
  }
}

/** The type of a value that is of one of both types: unknown if they differ. */
export function joinTypes(a: CelType, b: CelType): CelType {
  if (a.kind === 'dyn' || b.kind === 'dyn') return types.dyn;
  if (a.kind === 'null') return b;
  if (b.kind === 'null') return a;
  if (a.kind === 'list' && b.kind === 'list') return listOf(joinTypes(a.element, b.element));
  if (a.kind === 'map' && b.kind === 'map') return mapOf(joinTypes(a.key, b.key), joinTypes(a.value, b.value));
  if (a.kind === 'optional' && b.kind === 'optional') return optionalOf(joinTypes(a.value, b.value));
  return a.kind === b.kind && typeName(a) === typeName(b) ? a : types.dyn;
}
