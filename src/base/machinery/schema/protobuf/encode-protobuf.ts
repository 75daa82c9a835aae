import { JsonText } from '../../json/json-text.js';
import { parseDuration } from '../../values/duration.js';
import { timeParts } from '../../values/time.js';
import { resolveType } from '../access.js';
import type { Infer, ScalarName, SchemaType, StructType, VariantType } from '../types.js';
import { BackwardWriter } from './backward-writer.js';
import { rawText } from './raw-text.js';
import { structWriter, type WriteValue } from './struct-writer.js';
import { WireType } from './wire-type.js';

/** Writes a value, in front of which its tag belongs. */
interface ValueWriter {
  readonly wireType: WireType;
  readonly write: WriteValue;
}

/** Messages are written one at a time, from beginning to end. */
const shared = new BackwardWriter();

/**
 * The protobuf message of a canonical value of `type`, without an envelope and without kind and apiVersion. Values of
 * `fieldsV1` may be {@link JsonText}.
 */
export function encodeProtobuf<T>(type: StructType<T>, value: Infer<StructType<T>>): Uint8Array {
  try {
    messageBody(type)(shared, value);
    return shared.finish();
  } catch (error) {
    shared.clear();
    throw error;
  }
}

const messageBody = (type: StructType): WriteValue => structWriter(type, fieldWriter);

function tag(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

/** Writes tag and value, once per element for lists and maps. */
function fieldWriter(number: number, type: SchemaType): WriteValue {
  const resolved = resolveType(type);
  if (resolved.type === 'list' && resolved.wrapper === undefined) {
    const writeElement = fieldWriterOf(number, valueWriter(resolved.element));
    return (writer, value) => {
      const elements = value as readonly unknown[];
      for (let i = elements.length - 1; i >= 0; i--) writeElement(writer, elements[i]);
    };
  }
  if (resolved.type === 'map') return mapWriter(number, resolved.value);
  return fieldWriterOf(number, valueWriter(resolved));
}

function fieldWriterOf(number: number, { wireType, write }: ValueWriter): WriteValue {
  const fieldTag = tag(number, wireType);
  return (writer, value) => {
    write(writer, value);
    writer.uint32(fieldTag);
  };
}

/** Upstream writes the entries of a map sorted by their keys. */
function mapWriter(number: number, valueType: SchemaType): WriteValue {
  const fieldTag = tag(number, WireType.bytes);
  const keyTag = tag(1, WireType.bytes);
  const writeValue = fieldWriterOf(2, valueWriter(valueType));
  return (writer, value) => {
    const members = value as Readonly<Record<string, unknown>>;
    const keys = Object.keys(members);
    if (!isSorted(keys)) keys.sort();
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i] as string;
      const member = members[key];
      const end = writer.length;
      if (member !== null && member !== undefined) writeValue(writer, member);
      writer.string(key);
      writer.uint32(keyTag);
      writer.uint32(writer.length - end);
      writer.uint32(fieldTag);
    }
  };
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  return true;
}

function message(body: WriteValue): ValueWriter {
  return {
    wireType: WireType.bytes,
    write: (writer, value) => {
      const end = writer.length;
      body(writer, value);
      writer.uint32(writer.length - end);
    },
  };
}

function valueWriter(type: SchemaType): ValueWriter {
  const resolved = resolveType(type);
  switch (resolved.type) {
    case 'scalar':
      return scalarWriters[resolved.scalar];
    case 'enum':
      return scalarWriters.string;
    case 'struct':
      return message(messageBody(resolved));
    case 'list':
      // A list that is a map value, or declared as wrapped, has its own message.
      return message(fieldWriter(1, { ...resolved, wrapper: undefined } as SchemaType));
    case 'variant':
      return message(variantWriter(resolved));
    case 'map':
      throw new TypeError('protobuf has no maps of maps');
    case 'custom':
      throw new TypeError('protobuf has no custom kinds');
  }
}

function variantWriter(type: VariantType<unknown>): WriteValue {
  if (type.alternative === 'bool') {
    const writeStruct = lateFieldWriter(2, type.struct);
    return (writer, value) => {
      if (typeof value !== 'boolean') writeStruct(writer, value);
      writer.bool(value !== false);
      writer.uint32(tag(1, WireType.varint));
    };
  }
  const writeStruct = lateFieldWriter(1, type.struct);
  const writeElement =
    type.alternative === 'list' ? lateFieldWriter(2, type.struct) : fieldWriterOf(2, scalarWriters.string);
  return (writer, value) => {
    if (!Array.isArray(value)) writeStruct(writer, value);
    else for (let i = value.length - 1; i >= 0; i--) writeElement(writer, value[i]);
  };
}

/** Made on first use: types may contain themselves. */
function lateFieldWriter(number: number, type: SchemaType): WriteValue {
  let write: WriteValue | undefined;
  return (writer, value) => {
    write ??= fieldWriter(number, type);
    write(writer, value);
  };
}

function writeTime(writer: BackwardWriter, value: unknown): void {
  const { seconds, nanos } = timeParts(value as string);
  writer.int64(nanos);
  writer.uint32(tag(2, WireType.varint));
  writer.int64(seconds);
  writer.uint32(tag(1, WireType.varint));
}

function writeDuration(writer: BackwardWriter, value: unknown): void {
  writer.bigint(parseDuration(value as string));
  writer.uint32(tag(1, WireType.varint));
}

function writeInteger(writer: BackwardWriter, value: unknown): void {
  if (typeof value === 'bigint') writer.bigint(value);
  else writer.int64(value as number);
}

function writeIntOrString(writer: BackwardWriter, value: unknown): void {
  const isString = typeof value === 'string';
  writer.string(isString ? value : '');
  writer.uint32(tag(3, WireType.bytes));
  writer.int64(isString ? 0 : (value as number));
  writer.uint32(tag(2, WireType.varint));
  writer.uint32(isString ? 1 : 0);
  writer.uint32(tag(1, WireType.varint));
}

function writeQuantity(writer: BackwardWriter, value: unknown): void {
  writer.string(value as string);
  writer.uint32(tag(1, WireType.bytes));
}

function writeJson(writer: BackwardWriter, value: unknown): void {
  if (value === null) return;
  writer.string(value instanceof JsonText ? value.text : JSON.stringify(value));
  writer.uint32(tag(1, WireType.bytes));
}

function writeRaw(writer: BackwardWriter, value: unknown): void {
  if (value === null) return;
  writer.string(rawText(value));
  writer.uint32(tag(1, WireType.bytes));
}

const rawJson = message(writeJson);

const scalarWriters: Readonly<Record<ScalarName, ValueWriter>> = {
  string: { wireType: WireType.bytes, write: (writer, value) => writer.string(value as string) },
  int32: { wireType: WireType.varint, write: (writer, value) => writer.int64(value as number) },
  int64: { wireType: WireType.varint, write: writeInteger },
  bool: { wireType: WireType.varint, write: (writer, value) => writer.bool(value as boolean) },
  double: { wireType: WireType.fixed64, write: (writer, value) => writer.double(value as number) },
  bytes: { wireType: WireType.bytes, write: (writer, value) => writer.data(Buffer.from(value as string, 'base64')) },
  quantity: message(writeQuantity),
  time: message(writeTime),
  microTime: message(writeTime),
  duration: message(writeDuration),
  intOrString: message(writeIntOrString),
  rawExtension: message(writeRaw),
  fieldsV1: rawJson,
  anyJson: rawJson,
};
