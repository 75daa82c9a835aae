import protobuf from 'protobufjs/minimal.js';
import { parseDuration } from '../../values/duration.js';
import { timeParts } from '../../values/time.js';
import { resolveType } from '../access.js';
import type { Field, Infer, ScalarName, SchemaType, StructType, VariantType } from '../types.js';
import { rawText } from './raw-text.js';
import { WireType } from './wire-type.js';

type Writer = protobuf.Writer;
type Write = (writer: Writer, value: unknown) => void;

/** Writes a tag and the value after it. */
interface ValueWriter {
  readonly wireType: WireType;
  readonly write: Write;
}

const messageWriters = new WeakMap<StructType, Write>();

/** The protobuf message of a canonical value of `type`, without an envelope and without kind and apiVersion. */
export function encodeProtobuf<T>(type: StructType<T>, value: Infer<StructType<T>>): Uint8Array {
  const writer = protobuf.Writer.create();
  structWriter(type)(writer, value);
  return writer.finish();
}

function tag(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

function structWriter(type: StructType): Write {
  const known = messageWriters.get(type);
  if (known !== undefined) return known;
  const fields = type.fields.map((field) => ({
    name: field.name,
    isInline: field.presence === 'inline',
    write: lateFieldWriter(field),
  }));
  const write: Write = (writer, value) => {
    const object = value as Record<string, unknown>;
    for (const field of fields) {
      const member = field.isInline ? object : object[field.name];
      if (member !== null && member !== undefined) field.write(writer, member);
    }
  };
  messageWriters.set(type, write);
  return write;
}

/** Compiled on first use: types may contain themselves. */
function lateFieldWriter(field: Field): Write {
  let write: Write | undefined;
  return (writer, value) => {
    if (write === undefined) write = fieldWriter(field.number, field.type);
    write(writer, value);
  };
}

/** Writes tag and value, once per element for lists and maps. */
function fieldWriter(number: number, type: SchemaType): Write {
  const resolved = resolveType(type);
  if (resolved.type === 'list' && resolved.wrapper === undefined) {
    const writeElement = fieldWriterOf(number, valueWriter(resolved.element));
    return (writer, value) => {
      for (const element of value as unknown[]) writeElement(writer, element);
    };
  }
  if (resolved.type === 'map') return mapWriter(number, resolved.value);
  return fieldWriterOf(number, valueWriter(resolved));
}

function fieldWriterOf(number: number, { wireType, write }: ValueWriter): Write {
  const fieldTag = tag(number, wireType);
  return (writer, value) => {
    writer.uint32(fieldTag);
    write(writer, value);
  };
}

function mapWriter(number: number, valueType: SchemaType): Write {
  const fieldTag = tag(number, WireType.bytes);
  const keyTag = tag(1, WireType.bytes);
  const writeValue = fieldWriterOf(2, valueWriter(valueType));
  return (writer, value) => {
    for (const [key, member] of Object.entries(value as object)) {
      writer.uint32(fieldTag).fork().uint32(keyTag).string(key);
      if (member !== null && member !== undefined) writeValue(writer, member);
      writer.ldelim();
    }
  };
}

function message(body: Write): ValueWriter {
  return {
    wireType: WireType.bytes,
    write: (writer, value) => {
      writer.fork();
      body(writer, value);
      writer.ldelim();
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
      return message(structWriter(resolved));
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

function variantWriter(type: VariantType<unknown>): Write {
  if (type.alternative === 'bool') {
    const writeStruct = lateMessageField(2, type.struct);
    return (writer, value) => {
      writer.uint32(tag(1, WireType.varint)).bool(value !== false);
      if (typeof value !== 'boolean') writeStruct(writer, value);
    };
  }
  const writeStruct = lateMessageField(1, type.struct);
  const writeElement =
    type.alternative === 'list' ? lateMessageField(2, type.struct) : fieldWriterOf(2, scalarWriters.string);
  return (writer, value) => {
    if (!Array.isArray(value)) writeStruct(writer, value);
    else for (const element of value) writeElement(writer, element);
  };
}

function lateMessageField(number: number, type: SchemaType): Write {
  let write: Write | undefined;
  return (writer, value) => {
    if (write === undefined) write = fieldWriter(number, type);
    write(writer, value);
  };
}

function writeTime(writer: Writer, value: unknown): void {
  const { seconds, nanos } = timeParts(value as string);
  writer.uint32(tag(1, WireType.varint)).int64(seconds).uint32(tag(2, WireType.varint)).int32(nanos);
}

function writeDuration(writer: Writer, value: unknown): void {
  writeBigint(writer.uint32(tag(1, WireType.varint)), parseDuration(value as string));
}

function writeInt64(writer: Writer, value: unknown): void {
  if (typeof value === 'bigint') writeBigint(writer, value);
  else writer.int64(value as number);
}

function writeBigint(writer: Writer, value: bigint): void {
  const bits = BigInt.asUintN(64, value);
  const low = Number(bits & 0xffffffffn);
  const high = Number(bits >> 32n);
  writer.uint64(new protobuf.util.LongBits(low, high).toLong(true));
}

function writeIntOrString(writer: Writer, value: unknown): void {
  const isString = typeof value === 'string';
  writer.uint32(tag(1, WireType.varint)).int32(isString ? 1 : 0);
  writer.uint32(tag(2, WireType.varint)).int32(isString ? 0 : (value as number));
  writer.uint32(tag(3, WireType.bytes)).string(isString ? value : '');
}

function writeJson(writer: Writer, value: unknown): void {
  if (value === null) return;
  writer.uint32(tag(1, WireType.bytes)).string(JSON.stringify(value));
}

function writeRaw(writer: Writer, value: unknown): void {
  if (value === null) return;
  writer.uint32(tag(1, WireType.bytes)).string(rawText(value));
}

const rawJson = message(writeJson);

const scalarWriters: Readonly<Record<ScalarName, ValueWriter>> = {
  string: { wireType: WireType.bytes, write: (writer, value) => writer.string(value as string) },
  int32: { wireType: WireType.varint, write: (writer, value) => writer.int32(value as number) },
  int64: { wireType: WireType.varint, write: writeInt64 },
  bool: { wireType: WireType.varint, write: (writer, value) => writer.bool(value as boolean) },
  double: { wireType: WireType.fixed64, write: (writer, value) => writer.double(value as number) },
  bytes: { wireType: WireType.bytes, write: (writer, value) => writer.bytes(Buffer.from(value as string, 'base64')) },
  quantity: message((writer, value) => writer.uint32(tag(1, WireType.bytes)).string(value as string)),
  time: message(writeTime),
  microTime: message(writeTime),
  duration: message(writeDuration),
  intOrString: message(writeIntOrString),
  rawExtension: message(writeRaw),
  fieldsV1: rawJson,
  anyJson: rawJson,
};
