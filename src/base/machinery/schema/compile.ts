import { ExactNumber } from '../json/exact-numbers.js';
import { ValueFormatError } from '../values/value-format-error.js';
import { jsonFields, resolveType } from './access.js';
import { maxSelfNesting } from './depth.js';
import { isFieldGateOpen } from './field-gates.js';
import { Mismatch } from './mismatch.js';
import { scalarDecoders, scalarZeros } from './scalars.js';
import type { CustomKindForm, CustomType, Field, SchemaType, StructType, VariantType } from './types.js';

/** The state of one decoding run. */
export interface DecodeState {
  /** Some struct had an unknown field. */
  hasUnknown: boolean;
  /** Some list was given, but empty, and the canonical form does not show that. */
  hasEmptyList: boolean;
  /** The current nesting depth of types that contain themselves. */
  depth: number;
  /** See {@link DecodeOptions}. */
  readonly keepsNulls: boolean;
}

export type Decoder = (input: unknown, state: DecodeState) => unknown;

type JsonObject = Record<string, unknown>;

/** Marks fields that have no zero form. */
const absent = Symbol('absent');

const decoders = new WeakMap<object, Decoder>();

/** The decoder of a type, compiled on first use. It accepts any JSON value except null and undefined. */
export function decoderOf(type: SchemaType): Decoder {
  let decoder = decoders.get(type);
  if (decoder === undefined) {
    decoder = compile(type);
    decoders.set(type, decoder);
  }
  return decoder;
}

function compile(type: SchemaType): Decoder {
  switch (type.type) {
    case 'scalar':
      return scalarDecoders[type.scalar];
    case 'enum':
      return scalarDecoders.string;
    case 'list':
      return compileList(type.element);
    case 'map':
      return compileMap(type.value);
    case 'struct':
      return compileStruct(type);
    case 'variant':
      return compileVariant(type);
    case 'lazy':
      return compileLazy(type.resolve);
    case 'custom':
      return compileCustom(type);
  }
}

function compileCustom({ form }: CustomType): Decoder {
  return (input, state) =>
    form.decode(
      input,
      () => {
        state.hasUnknown = true;
      },
      state,
    );
}

function compileList(elementType: SchemaType): Decoder {
  const decode = decoderOf(elementType);
  const zero = elementZeroMaker(elementType);
  return (input, state) => {
    if (!Array.isArray(input)) throw new Mismatch('a list', input);
    const length = input.length;
    const output: unknown[] = [];
    for (let i = 0; i < length; i++) {
      const element: unknown = input[i];
      output.push(element === null || element === undefined ? zero() : decode(element, state));
    }
    return output;
  };
}

function compileMap(valueType: SchemaType): Decoder {
  const decode = decoderOf(valueType);
  const zero = elementZeroMaker(valueType);
  return (input, state) => {
    const source = asObject(input);
    const keys = Object.keys(source);
    if (!isSorted(keys)) keys.sort();
    const output: JsonObject = {};
    for (const key of keys) {
      const raw = source[key];
      const value = raw === null || raw === undefined ? zero() : decode(raw, state);
      if (key === '__proto__') setProperty(output, key, value);
      else output[key] = value;
    }
    return output;
  };
}

/** Sets any key as data: plain assignment to `__proto__` would change the prototype. */
function setProperty(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  }
  return true;
}

function asObject(input: unknown): JsonObject {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || input instanceof ExactNumber) {
    throw new Mismatch('an object', input);
  }
  return input as JsonObject;
}

function compileStruct(type: StructType): Decoder {
  return type.custom === undefined ? compileFields(type) : compileCustomKind(type, type.custom);
}

const everyKindsFields: readonly string[] = ['kind', 'apiVersion', 'metadata'];

function compileCustomKind(type: StructType, custom: CustomKindForm): Decoder {
  const decodeIdentity = compileFields({ ...type, fields: type.fields.filter(({ name }) => isOfEveryKind(name)) });
  return (input, state) => {
    const source = asObject(input);
    const identity: JsonObject = {};
    for (const name of everyKindsFields) if (source[name] !== undefined) identity[name] = source[name];
    const output = decodeIdentity(identity, state) as JsonObject;
    const decoded = custom.decode(
      source,
      () => {
        state.hasUnknown = true;
      },
      state,
    );
    for (const name of Object.keys(decoded)) {
      if (isOfEveryKind(name)) continue;
      if (name === '__proto__') setProperty(output, name, decoded[name]);
      else output[name] = decoded[name];
    }
    return output;
  };
}

function isOfEveryKind(name: string): boolean {
  return everyKindsFields.includes(name);
}

function compileFields(type: StructType): Decoder {
  const fields = [...jsonFields(type).values()];
  const names = fields.map((field) => field.name);
  const fieldDecoders = fields.map((field) => lateDecoder(field.type));
  const zeros = fields.map(absentForm);
  const droppable = fields.map((field) => field.presence === 'optional');
  const emptiable = fields.map(showsNullWhenEmpty);
  const gates = fields.map(({ dropped, gate }) => (dropped ? closed : gate));
  const isKind = type.kind !== undefined;
  const places = new Map(names.map((name, place) => [name, place]));
  const shown = new Places();
  fields.forEach(({ presence }, place) => {
    if (presence !== 'optional' && presence !== 'pointer') shown.add(place);
  });

  return (input, state) => {
    const source = asObject(input);
    const output: JsonObject = {};
    if (isKind) decodeTypeMeta(source, output);
    // Most objects have few of their fields: only those are processed, and the fields that are always present.
    const visited = shown.copy();
    for (const name in source) {
      const place = places.get(name);
      if (place !== undefined) visited.add(place);
      else if (!isKind || (name !== 'kind' && name !== 'apiVersion')) state.hasUnknown = true;
    }
    for (let i = visited.after(-1); i >= 0; i = visited.after(i)) {
      const name = names[i] as string;
      const raw = source[name];
      let value: unknown;
      if (raw === undefined || raw === null) {
        value = (zeros[i] as () => unknown)();
        if (value !== absent) output[name] = value;
        continue;
      }
      value = (fieldDecoders[i] as Decoder)(raw, state);
      const gate = gates[i];
      if (gate !== undefined && !isFieldGateOpen(gate)) continue;
      if ((droppable[i] === true || emptiable[i] === true) && isZero(value)) {
        if (Array.isArray(value)) state.hasEmptyList = true;
        if (droppable[i] === true) continue;
        value = null;
      }
      output[name] = value;
    }
    return output;
  };
}

/** The gate of fields that are always dropped; no gate has this name. */
const closed = '';

const bitsOfPart = 32;

/** A set of positions in the declared order of fields, which can be iterated in that order. */
class Places {
  private low = 0;
  private high = 0;
  /** Positions that fit into neither `low` nor `high`; few types have so many fields. */
  private rest: number[] | undefined = undefined;

  add(place: number): void {
    if (place < bitsOfPart) this.low |= 1 << place;
    else if (place < 2 * bitsOfPart) this.high |= 1 << (place - bitsOfPart);
    else {
      this.rest ??= [];
      if (!this.rest.includes(place)) this.rest.push(place);
    }
  }

  copy(): Places {
    const copy = new Places();
    copy.low = this.low;
    copy.high = this.high;
    if (this.rest !== undefined) copy.rest = [...this.rest];
    return copy;
  }

  /** The first position after the given one; -1 if there is none. */
  after(place: number): number {
    const next = place + 1;
    if (next < bitsOfPart) {
      const left = this.low & (-1 << next);
      if (left !== 0) return lowestBit(left);
    }
    if (next < 2 * bitsOfPart) {
      const left = next <= bitsOfPart ? this.high : this.high & (-1 << (next - bitsOfPart));
      if (left !== 0) return bitsOfPart + lowestBit(left);
    }
    let first = -1;
    for (const other of this.rest ?? []) if (other >= next && (first < 0 || other < first)) first = other;
    return first;
  }
}

function lowestBit(bits: number): number {
  return bitsOfPart - 1 - Math.clz32(bits & -bits);
}

/** Copies kind and apiVersion, in this order. */
function decodeTypeMeta(source: JsonObject, output: JsonObject): void {
  const { kind, apiVersion } = source;
  if (kind !== undefined && kind !== null && kind !== '') output.kind = scalarDecoders.string(kind);
  if (apiVersion !== undefined && apiVersion !== null && apiVersion !== '') {
    output.apiVersion = scalarDecoders.string(apiVersion);
  }
}

/** Compiles the field's type when its first value arrives, so startup stays cheap. */
function lateDecoder(type: SchemaType): Decoder {
  if (type.type === 'scalar' || type.type === 'enum') return decoderOf(type);
  let decoder: Decoder | undefined;
  return (input, state) => {
    if (decoder === undefined) decoder = decoderOf(type);
    return decoder(input, state);
  };
}

/** Whether an `optional` field drops this decoded value. */
function isZero(value: unknown): boolean {
  if (typeof value !== 'object') return value === '' || value === 0 || value === false;
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/**
 * Whether an always-present list or map becomes null when empty: protobuf can't distinguish empty from absent. The
 * `items` of a list object stay an empty list.
 */
function showsNullWhenEmpty({ name, type, presence }: Field): boolean {
  if (presence !== 'required' && presence !== 'always') return false;
  return (type.type === 'list' || type.type === 'map') && name !== 'items';
}

function absentForm(field: Field): () => unknown {
  if (field.presence === 'optional' || field.presence === 'pointer') return () => absent;
  return field.nullable ? () => null : zeroMaker(field.type);
}

/**
 * The zero form of a null in a list or map. For bytes it is an empty string, so that clients still find the keys of a
 * Secret.
 */
function elementZeroMaker(type: SchemaType): () => unknown {
  return type.type === 'scalar' && type.scalar === 'bytes' ? () => '' : zeroMaker(type);
}

/** Returns a function that makes the zero form of a type: a fresh object for structs, null for lists and maps. */
export function zeroMaker(type: SchemaType): () => unknown {
  switch (type.type) {
    case 'scalar': {
      const zero = scalarZeros[type.scalar];
      return () => zero;
    }
    case 'enum':
      return () => '';
    case 'list':
    case 'map':
    case 'variant':
    case 'custom':
      return () => null;
    case 'struct': {
      const empty = Object.freeze({});
      const state: DecodeState = { hasUnknown: false, hasEmptyList: false, depth: 0, keepsNulls: false };
      let decoder: Decoder | undefined;
      return () => {
        if (decoder === undefined) decoder = decoderOf(type);
        return decoder(empty, state);
      };
    }
    case 'lazy':
      return () => zeroMaker(resolveType(type))();
  }
}

function compileVariant(type: VariantType<unknown>): Decoder {
  const decodeStruct = lateDecoder(type.struct);
  const list: SchemaType = {
    type: 'list',
    element: type.alternative === 'strings' ? ({ type: 'scalar', scalar: 'string' } as SchemaType) : type.struct,
    wrapper: undefined,
  } as SchemaType;
  const decodeList = lateDecoder(list);
  return (input, state) => {
    if (type.alternative === 'bool' && typeof input === 'boolean') return input;
    if (type.alternative !== 'bool' && Array.isArray(input)) return decodeList(input, state);
    if (typeof input !== 'object' || Array.isArray(input) || input instanceof ExactNumber) {
      const simple = { bool: 'a boolean', list: 'a list of schemas', strings: 'a list of strings' }[type.alternative];
      throw new Mismatch(`${simple} or a schema`, input);
    }
    return decodeStruct(input, state);
  };
}

function compileLazy(resolve: () => StructType): Decoder {
  let decoder: Decoder | undefined;
  return (input, state) => {
    if (decoder === undefined) decoder = decoderOf(resolve());
    if (++state.depth > maxSelfNesting) throw new ValueFormatError('exceeded max depth');
    const value = decoder(input, state);
    state.depth--;
    return value;
  };
}
