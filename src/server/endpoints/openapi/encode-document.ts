import protobuf from 'protobufjs/minimal.js';
import { madeJson } from '../../../base/machinery/json/lazy-json.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { Shape, Slot, Union } from './document-messages.js';

type Writer = protobuf.Writer;
type Json = Readonly<Record<string, unknown>>;

const varint = 0;
const fixed64 = 1;
const bytes = 2;

/** Encodes an OpenAPI document as protobuf, in several steps. Throws for a member that the shape does not have. */
export function* encodeDocument(shape: Shape, document: Json): Steps<Uint8Array> {
  const writer = protobuf.Writer.create();
  yield* writeFields(writer, shape, document);
  return writer.finish();
}

/** Encodes members of a map of the document, without the bytes before them, which {@link encodeMapStart} encodes. */
export function* encodeEntries(shape: Shape, name: string, value: Json): Steps<Uint8Array> {
  const writer = protobuf.Writer.create();
  const slot = mapSlot(shape, name);
  yield* writeEntries(writer, slot, slot.entries, value);
  return writer.finish();
}

/** Encodes the bytes before the entries of a map. @param length of all entries, in bytes */
export function encodeMapStart(shape: Shape, name: string, length: number): Uint8Array {
  return tag(protobuf.Writer.create(), mapSlot(shape, name).number, bytes).uint32(length).finish();
}

function mapSlot({ fields }: Shape, name: string): Slot & { readonly entries: number } {
  const slot = fields[name];
  if (slot?.entries === undefined) throw new TypeError(`an OpenAPI document has no map ${name} here`);
  return { ...slot, entries: slot.entries };
}

function tag(writer: Writer, number: number, wireType: number): Writer {
  return writer.uint32(((number << 3) | wireType) >>> 0);
}

function* writeFields(writer: Writer, shape: Shape, value: Json): Steps {
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const slot = shape.fields[name];
    if (slot !== undefined) yield* writeMember(writer, slot, member);
    else if (shape.extensions !== undefined && name.startsWith('x-')) {
      tag(writer, shape.extensions, bytes).fork();
      tag(writer, 1, bytes).string(name);
      writeAny(writer, 2, member);
      writer.ldelim();
    } else throw new TypeError(`an OpenAPI document has no member ${name} here`);
  }
}

function* writeMember(writer: Writer, slot: Slot, member: unknown): Steps {
  if (slot.entries !== undefined) {
    for (const value of Array.isArray(member) ? member : [member])
      yield* writeMap(writer, slot, slot.entries, madeJson(value) as Json);
    return;
  }
  const isOneValue = slot.as === 'any' || slot.as === 'default' || !Array.isArray(member);
  for (const value of isOneValue ? [member] : member) {
    yield* writeWrapped(writer, slot.number, slot.wrap ?? [], slot, value);
  }
}

/** Writes a message with a name-value pair for each member of a map. */
function* writeMap(writer: Writer, slot: Slot, entries: number, value: Json): Steps {
  tag(writer, slot.number, bytes).fork();
  yield* writeEntries(writer, slot, entries, value);
  writer.ldelim();
}

function* writeEntries(writer: Writer, slot: Slot, entries: number, value: Json): Steps {
  for (const [name, member] of Object.entries(value)) {
    const own = slot.own?.[name];
    if (own !== undefined) {
      yield* writeWrapped(writer, own, slot.wrap ?? [], slot, member);
      continue;
    }
    yield;
    tag(writer, entries, bytes).fork();
    tag(writer, 1, bytes).string(name);
    yield* writeWrapped(writer, 2, slot.wrap ?? [], slot, member);
    writer.ldelim();
  }
}

/** Writes one value as field `number`, inside a message for each number of `wrap`. */
function* writeWrapped(writer: Writer, number: number, wrap: readonly number[], slot: Slot, value: unknown): Steps {
  const [inner, ...rest] = wrap;
  if (slot.flag !== undefined && typeof value === 'boolean') {
    tag(writer, number, bytes).fork();
    tag(writer, slot.flag, varint).bool(value);
    writer.ldelim();
    return;
  }
  if (inner !== undefined) {
    tag(writer, number, bytes).fork();
    yield* writeWrapped(writer, inner, rest, slot, value);
    writer.ldelim();
    return;
  }
  switch (slot.as) {
    case 'text':
      tag(writer, number, bytes).string(value as string);
      return;
    case 'flag':
      tag(writer, number, varint).bool(value as boolean);
      return;
    case 'number':
      tag(writer, number, fixed64).double(value as number);
      return;
    case 'count':
      tag(writer, number, varint).int64(value as number);
      return;
    case 'any':
    case 'anys':
      writeAny(writer, number, value);
      return;
    case 'default':
      writeDefault(writer, number, value);
      return;
    default:
      yield* writeMessage(writer, number, slot.as(), madeJson(value) as Json);
  }
}

function* writeMessage(writer: Writer, number: number, as: Shape | Union, value: Json): Steps {
  if (typeof as !== 'function') {
    tag(writer, number, bytes).fork();
    yield* writeFields(writer, as, value);
    writer.ldelim();
    return;
  }
  const { wrap, shape } = as(value);
  yield* writeWrapped(writer, number, wrap, { number, as: () => shape }, value);
}

/** Writes any value as YAML; JSON is valid YAML. */
function writeAny(writer: Writer, number: number, value: unknown): void {
  tag(writer, number, bytes).fork();
  tag(writer, 2, bytes).string(JSON.stringify(value));
  writer.ldelim();
}

/** Writes a default value, unless it is an object or a list, for which the message has no field. */
function writeDefault(writer: Writer, number: number, value: unknown): void {
  if (typeof value === 'object') return;
  tag(writer, number, bytes).fork();
  if (typeof value === 'number') tag(writer, 1, fixed64).double(value);
  else if (typeof value === 'boolean') tag(writer, 2, varint).bool(value);
  else tag(writer, 3, bytes).string(String(value));
  writer.ldelim();
}
