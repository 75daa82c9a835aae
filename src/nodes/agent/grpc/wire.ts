import protobuf from 'protobufjs/minimal.js';

/** No list of a machine is longer. A longer one is refused: few bytes can describe items that would fill the memory. */
const mostEntries = 100_000;
/** Of bytes of which only the beginning is read. */
const headBytes = 10 * 1024;

type Reader = protobuf.Reader;
type Writer = protobuf.Writer;

/** The encoding of a value in a protobuf message, and the value of a missing field. */
interface Kind<Out, In> {
  readonly wireType: 0 | 1 | 2;
  readonly zero: () => Out;
  readonly read: (reader: Reader) => Out;
  readonly write: (writer: Writer, value: In) => void;
}

/** One field of a message. `Out` is the type that is read, `In` the type that may be written. */
export interface WireField<Out, In = Out> {
  readonly number: number;
  zero(): Out;
  /** Whether an occurrence can have this form. Others are skipped, as fields that nobody has declared. */
  accepts(wireType: number): boolean;
  /** Returns the value of the field after one more occurrence; it may be the value before, changed. */
  take(reader: Reader, wireType: number, before: Out): Out;
  put(writer: Writer, value: In): void;
}

/** A declared message: reads and writes its values. */
export interface WireMessage<Out, In> {
  encode(value: In): Buffer;
  decode(bytes: Uint8Array): Out;
  readonly kind: Kind<Out, In>;
}

type AnyFields = Readonly<Record<string, WireField<unknown, never>>>;
type FieldOut<F> = F extends WireField<infer Out, never> ? Out : never;
type FieldIn<F> = F extends { put(writer: Writer, value: infer In): void } ? In : never;

type OutOf<F extends AnyFields> = { readonly [Name in keyof F]: FieldOut<F[Name]> };
type InOf<F extends AnyFields> = { readonly [Name in keyof F]?: FieldIn<F[Name]> | undefined };

/** The type of a message when it is read. */
export type WireReader<M> = M extends WireMessage<infer Out, never> ? Out : never;
/** The type of a message when it is written; missing fields are zero. */
export type Written<M> = M extends { encode(value: infer In): Buffer } ? In : never;

const string: Kind<string, string> = {
  wireType: 2,
  zero: () => '',
  read: (reader) => reader.string(),
  write: (writer, value) => void writer.string(value),
};
const bytes: Kind<Buffer, Buffer> = {
  wireType: 2,
  zero: () => Buffer.alloc(0),
  read: (reader) => Buffer.from(reader.bytes()),
  write: (writer, value) => void writer.bytes(value),
};
/** The beginning of bytes: what is longer is not copied, so that the message that it came in can be freed. */
const head: Kind<Buffer, Buffer> = { ...bytes, read: (reader) => Buffer.from(reader.bytes().subarray(0, headBytes)) };
const bool: Kind<boolean, boolean> = {
  wireType: 0,
  zero: () => false,
  read: (reader) => reader.bool(),
  write: (writer, value) => void writer.bool(value),
};
/** 64-bit integers. Above 2^53 they are rounded, which only affects the last digits of times in nanoseconds. */
const integer: Kind<number, number> = {
  wireType: 0,
  zero: () => 0,
  read: (reader) => {
    const value = reader.int64() as unknown as number | { toNumber(): number };
    return typeof value === 'number' ? value : value.toNumber();
  },
  write: (writer, value) => void writer.int64(value),
};

const kinds = { string, bytes, head, bool, integer } as const;
type Kinds = typeof kinds;
type KindName = keyof Kinds;
type ValueOf<K extends KindName> = ReturnType<Kinds[K]['zero']>;

/**
 * A field with one scalar. `integer` covers all integer types and enumerations; `head` reads bytes and keeps the first
 * 10 KiB.
 */
export function scalar<K extends KindName>(number: number, name: K): WireField<ValueOf<K>> {
  return one(number, kinds[name] as unknown as Kind<ValueOf<K>, ValueOf<K>>);
}

/** A repeated scalar, packed or not. */
export function scalars<K extends KindName>(
  number: number,
  name: K,
): WireField<readonly ValueOf<K>[], readonly ValueOf<K>[]> {
  return many(number, kinds[name] as unknown as Kind<ValueOf<K>, ValueOf<K>>);
}

/** A field with a message, undefined when it is missing. */
export function nested<Out, In>(number: number, type: WireMessage<Out, In>): WireField<Out | undefined, In> {
  return {
    number,
    zero: () => undefined,
    accepts: (wireType) => wireType === type.kind.wireType,
    take: (reader) => type.kind.read(reader),
    put: (writer, value) => {
      writer.uint32(number * 8 + 2);
      type.kind.write(writer, value);
    },
  };
}

/** A repeated message. */
export function nestedList<Out, In>(
  number: number,
  type: WireMessage<Out, In>,
): WireField<readonly Out[], readonly In[]> {
  return many(number, type.kind);
}

/** A map with string keys and values. */
export function texts(number: number): WireField<Readonly<Record<string, string>>> {
  return {
    number,
    zero: () => ({}),
    accepts: (wireType) => wireType === 2,
    take: (reader, _wireType, before) => {
      let [key, value] = ['', ''];
      eachField(reader, (field) => {
        if (field === 1) key = reader.string();
        else if (field === 2) value = reader.string();
        else return false;
        return true;
      });
      // Copying it for each entry would take as many steps as its size squared.
      const known = before as Record<string, string>;
      if (key !== '__proto__') known[key] = value;
      return known;
    },
    put: (writer, value) => {
      for (const [key, text] of Object.entries(value)) {
        writer.uint32(number * 8 + 2).fork();
        writer.uint32(10).string(key).uint32(18).string(text).ldelim();
      }
    },
  };
}

function one<Out, In>(number: number, kind: Kind<Out, In>): WireField<Out, In> {
  return {
    number,
    zero: kind.zero,
    accepts: (wireType) => wireType === kind.wireType,
    take: (reader) => kind.read(reader),
    put: (writer, value) => {
      writer.uint32(number * 8 + kind.wireType);
      kind.write(writer, value);
    },
  };
}

function many<Out, In>(number: number, kind: Kind<Out, In>): WireField<readonly Out[], readonly In[]> {
  return {
    number,
    zero: () => [],
    accepts: (wireType) => wireType === kind.wireType || wireType === 2,
    take: (reader, wireType, before) => {
      const list = before as Out[];
      const add = () => {
        if (list.length >= mostEntries) throw new RangeError(`a list has more than ${mostEntries} entries`);
        list.push(kind.read(reader));
      };
      if (kind.wireType === 2 || wireType !== 2) add();
      else for (const end = reader.uint32() + reader.pos; reader.pos < end; ) add();
      return list;
    },
    put: (writer, values) => {
      for (const value of values) {
        writer.uint32(number * 8 + kind.wireType);
        kind.write(writer, value);
      }
    },
  };
}

/** Calls `visit` for every field of the message that begins here. `visit` returns whether it has read the field. */
function eachField(reader: Reader, visit: (number: number, wireType: number) => boolean): void {
  const end = reader.uint32() + reader.pos;
  readFields(reader, end, visit);
}

function readFields(reader: Reader, end: number, visit: (number: number, wireType: number) => boolean): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (!visit(tag >>> 3, tag & 7)) reader.skipType(tag & 7);
  }
}

/** Declares a message by the names and numbers of its fields. Fields that are not declared are skipped. */
export function message<F extends AnyFields>(fields: F): WireMessage<OutOf<F>, InOf<F>> {
  const all = Object.entries(fields) as unknown as [string, WireField<unknown, unknown>][];
  const byNumber = new Map(all.map(([name, field]) => [field.number, { name, field }]));
  const fill = (reader: Reader, end: number): OutOf<F> => {
    const value: Record<string, unknown> = {};
    for (const [name, field] of all) value[name] = field.zero();
    readFields(reader, end, (number, wireType) => {
      const known = byNumber.get(number);
      if (known?.field.accepts(wireType) !== true) return false;
      value[known.name] = known.field.take(reader, wireType, value[known.name]);
      return true;
    });
    return value as OutOf<F>;
  };
  const write = (writer: Writer, value: InOf<F>): void => {
    for (const [name, field] of all) {
      const member = value[name];
      if (member !== undefined) field.put(writer, member);
    }
  };
  return {
    encode: (value) => {
      const writer = protobuf.Writer.create();
      write(writer, value);
      return Buffer.from(writer.finish());
    },
    decode: (bytes) => {
      const reader = protobuf.Reader.create(bytes);
      return fill(reader, reader.len);
    },
    kind: {
      wireType: 2,
      zero: () => fill(protobuf.Reader.create(Buffer.alloc(0)), 0),
      read: (reader) => {
        const end = reader.uint32() + reader.pos;
        return fill(reader, end);
      },
      write: (writer, value) => {
        writer.fork();
        write(writer, value);
        writer.ldelim();
      },
    },
  };
}
