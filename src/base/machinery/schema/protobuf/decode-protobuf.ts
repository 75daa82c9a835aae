import protobuf from 'protobufjs/minimal.js';
import { parseJson } from '../../json/exact-numbers.js';
import { formatDuration } from '../../values/duration.js';
import { formatTimeParts } from '../../values/time.js';
import { ValueFormatError } from '../../values/value-format-error.js';
import { resolveType } from '../access.js';
import { decode } from '../decode.js';
import { DecodeError } from '../decode-error.js';
import { maxSelfNesting } from '../depth.js';
import type { Infer, ScalarName, SchemaType, StructType, VariantType } from '../types.js';
import { WireType } from './wire-type.js';

type Reader = protobuf.Reader;
type JsonObject = Record<string, unknown>;

/** Reads the value after a tag, in the JSON form that the JSON decoder accepts. */
interface ValueReader {
  readonly wireType: WireType;
  /** `previous` is the result of an earlier occurrence of the same field: messages merge. */
  readonly read: (reader: Reader, depth: number, previous: unknown) => unknown;
}

/** Reads one occurrence of a field into its containing object. */
type FieldReader = (reader: Reader, wireType: number, target: JsonObject, depth: number) => void;

/** Each struct is one level of nesting; this allows more levels than any declared type has, and recursive types. */
const maxMessageDepth = maxSelfNesting * 2;

/**
 * Decodes a protobuf message (without envelope) into the canonical value of `type`. Unknown field numbers are skipped.
 *
 * @throws {DecodeError} for data that is not such a message.
 */
export function decodeProtobuf<T>(type: StructType<T>, data: Uint8Array): T {
  let loose: unknown;
  try {
    const reader = protobuf.Reader.create(data);
    loose = readMessage(reader, reader.len, messageFields(type), {}, 0);
  } catch (error) {
    throw asDecodeError(error);
  }
  return decode(type, loose).value as Infer<StructType<T>>;
}

/** The library reports damaged data as RangeError or plain Error. */
function asDecodeError(error: unknown): unknown {
  if (error instanceof DecodeError || !(error instanceof Error)) return error;
  const isDataFault =
    error instanceof RangeError ||
    error instanceof ValueFormatError ||
    Object.getPrototypeOf(error) === Error.prototype;
  return isDataFault ? new DecodeError('', `invalid protobuf data: ${error.message}`) : error;
}

function readMessage(
  reader: Reader,
  end: number,
  fields: ReadonlyMap<number, FieldReader>,
  target: JsonObject,
  depth: number,
): JsonObject {
  if (depth > maxMessageDepth) throw new ValueFormatError('exceeded max depth');
  if (end > reader.len) throw new ValueFormatError('a message is longer than the data');
  while (reader.pos < end) {
    const tag = reader.uint32();
    const readField = fields.get(tag >>> 3);
    if (readField === undefined) reader.skipType(tag & 7);
    else readField(reader, tag & 7, target, depth);
  }
  if (reader.pos !== end) throw new ValueFormatError('a field is longer than its message');
  return target;
}

const fieldMaps = new WeakMap<StructType, ReadonlyMap<number, FieldReader>>();

function messageFields(type: StructType): ReadonlyMap<number, FieldReader> {
  const known = fieldMaps.get(type);
  if (known !== undefined) return known;
  const fields = new Map<number, FieldReader>();
  fieldMaps.set(type, fields);
  for (const field of type.fields) {
    if (field.presence !== 'inline') fields.set(field.number, lateFieldReader(field.name, field.type));
    else fields.set(field.number, inlineReader(field.type as StructType));
  }
  return fields;
}

/** Reads the fields of an inline struct into the object of its parent. */
function inlineReader(type: StructType): FieldReader {
  return (reader, wireType, target, depth) => {
    checkWireType(wireType, WireType.bytes);
    const end = reader.uint32() + reader.pos;
    readMessage(reader, end, messageFields(type), target, depth + 1);
  };
}

function lateFieldReader(name: string, type: SchemaType): FieldReader {
  let read: FieldReader | undefined;
  return (reader, wireType, target, depth) => {
    if (read === undefined) read = fieldReader(name, type);
    read(reader, wireType, target, depth);
  };
}

function checkWireType(found: number, expected: WireType): void {
  if (found !== expected) throw new ValueFormatError(`wrong wire type ${found}, expected ${expected}`);
}

function fieldReader(name: string, type: SchemaType): FieldReader {
  const resolved = resolveType(type);
  if (resolved.type === 'list' && resolved.wrapper === undefined) return listReader(name, resolved.element);
  if (resolved.type === 'map') return mapReader(name, resolved.value);
  const value = valueReader(resolved);
  return (reader, wireType, target, depth) => {
    checkWireType(wireType, value.wireType);
    target[name] = value.read(reader, depth, target[name]);
  };
}

function listReader(name: string, elementType: SchemaType): FieldReader {
  const element = valueReader(elementType);
  return (reader, wireType, target, depth) => {
    const existing = target[name];
    const list: unknown[] = Array.isArray(existing) ? existing : [];
    target[name] = list;
    if (wireType === WireType.bytes && element.wireType !== WireType.bytes) {
      // Packed numbers.
      const end = reader.uint32() + reader.pos;
      if (end > reader.len) throw new ValueFormatError('a list is longer than the data');
      while (reader.pos < end) list.push(element.read(reader, depth, undefined));
      return;
    }
    checkWireType(wireType, element.wireType);
    list.push(element.read(reader, depth, undefined));
  };
}

function mapReader(name: string, valueType: SchemaType): FieldReader {
  const value = valueReader(valueType);
  // Missing bytes are empty, whereas in JSON they would be null.
  const absent = valueType.type === 'scalar' && valueType.scalar === 'bytes' ? '' : null;
  const entryFields: ReadonlyMap<number, FieldReader> = new Map([
    [1, fieldReader('key', { type: 'scalar', scalar: 'string' } as SchemaType)],
    [
      2,
      (reader: Reader, wireType: number, target: JsonObject, depth: number) => {
        checkWireType(wireType, value.wireType);
        target.value = value.read(reader, depth, undefined);
      },
    ],
  ]);
  return (reader, wireType, target, depth) => {
    checkWireType(wireType, WireType.bytes);
    const end = reader.uint32() + reader.pos;
    const entry = readMessage(reader, end, entryFields, {}, depth + 1);
    const map = (target[name] ?? {}) as JsonObject;
    target[name] = map;
    const key = (entry.key ?? '') as string;
    // Defined rather than assigned: the key may be `__proto__`.
    Object.defineProperty(map, key, {
      value: entry.value ?? absent,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  };
}

function message(fields: () => ReadonlyMap<number, FieldReader>, finish?: (read: JsonObject) => unknown): ValueReader {
  return {
    wireType: WireType.bytes,
    read: (reader, depth, previous) => {
      const end = reader.uint32() + reader.pos;
      const isMergeable = finish === undefined && typeof previous === 'object' && previous !== null;
      const target = isMergeable ? (previous as JsonObject) : {};
      const read = readMessage(reader, end, fields(), target, depth + 1);
      return finish === undefined ? read : finish(read);
    },
  };
}

function valueReader(type: SchemaType): ValueReader {
  const resolved = resolveType(type);
  switch (resolved.type) {
    case 'scalar':
      return scalarReaders[resolved.scalar];
    case 'enum':
      return scalarReaders.string;
    case 'struct':
      return message(() => messageFields(resolved));
    case 'list': {
      const fields = new Map([[1, listReader('items', resolved.element)]]);
      return message(
        () => fields,
        (read) => read.items ?? [],
      );
    }
    case 'variant':
      return variantReader(resolved);
    case 'map':
      throw new TypeError('protobuf has no maps of maps');
    case 'custom':
      throw new TypeError('protobuf has no custom kinds');
  }
}

function variantReader(type: VariantType<unknown>): ValueReader {
  const struct = lateFieldReader('struct', type.struct);
  if (type.alternative === 'bool') {
    const fields = new Map([
      [1, fieldReader('allows', { type: 'scalar', scalar: 'bool' } as SchemaType)],
      [2, struct],
    ]);
    return message(
      () => fields,
      (read) => read.struct ?? read.allows ?? false,
    );
  }
  const element = type.alternative === 'list' ? type.struct : ({ type: 'scalar', scalar: 'string' } as SchemaType);
  const list = { type: 'list', element, wrapper: undefined } as unknown as SchemaType;
  const fields = new Map([
    [1, struct],
    [2, lateFieldReader('list', list)],
  ]);
  return message(
    () => fields,
    (read) => read.list ?? read.struct ?? null,
  );
}

/** A 64-bit number; a bigint if a number can't represent it. */
function readInt64(reader: Reader): number | bigint {
  const value = reader.int64() as number | { readonly low: number; readonly high: number };
  if (typeof value === 'number') return value;
  const exact = (BigInt(value.high) << 32n) | BigInt(value.low >>> 0);
  const rounded = Number(exact);
  return Number.isSafeInteger(rounded) ? rounded : exact;
}

function plain(wireType: WireType, read: (reader: Reader) => unknown): ValueReader {
  return { wireType, read };
}

/** A field of a small fixed message. */
function plainField(name: string, value: ValueReader): FieldReader {
  return (reader, wireType, target, depth) => {
    checkWireType(wireType, value.wireType);
    target[name] = value.read(reader, depth, undefined);
  };
}

const readText = plain(WireType.bytes, (reader) => reader.string());
const readVarint = plain(WireType.varint, readInt64);

const timeFields = new Map([
  [1, plainField('seconds', readVarint)],
  [2, plainField('nanos', readVarint)],
]);

/** An empty message means no time. */
function finishTime(read: JsonObject): string | null {
  if (read.seconds === undefined && read.nanos === undefined) return null;
  return formatTimeParts({ seconds: Number(read.seconds ?? 0), nanos: Number(read.nanos ?? 0) });
}

const time = message(() => timeFields, finishTime);

const durationFields = new Map([[1, plainField('nanoseconds', readVarint)]]);

const quantityFields = new Map([[1, plainField('text', readText)]]);

const intOrStringFields = new Map([
  [1, plainField('type', readVarint)],
  [2, plainField('int', readVarint)],
  [3, plainField('text', readText)],
]);

const rawFields = new Map([[1, plainField('raw', readText)]]);

const rawJson = message(
  () => rawFields,
  ({ raw }) => {
    if (raw === undefined || raw === '') return null;
    try {
      return parseJson(raw as string);
    } catch {
      throw new ValueFormatError('a raw value is not JSON');
    }
  },
);

const scalarReaders: Readonly<Record<ScalarName, ValueReader>> = {
  string: readText,
  int32: plain(WireType.varint, (reader) => reader.int32()),
  int64: readVarint,
  bool: plain(WireType.varint, (reader) => reader.bool()),
  double: plain(WireType.fixed64, (reader) => reader.double()),
  bytes: plain(WireType.bytes, (reader) => Buffer.from(reader.bytes()).toString('base64')),
  quantity: message(
    () => quantityFields,
    (read) => read.text ?? '0',
  ),
  time,
  microTime: time,
  duration: message(
    () => durationFields,
    (read) => formatDuration(BigInt((read.nanoseconds as number | bigint | undefined) ?? 0)),
  ),
  intOrString: message(
    () => intOrStringFields,
    (read) => (Number(read.type ?? 0) === 1 ? (read.text ?? '') : (read.int ?? 0)),
  ),
  rawExtension: rawJson,
  fieldsV1: rawJson,
  anyJson: rawJson,
};
