import type { SchemaType, StructType } from '../types.js';
import type { BackwardWriter } from './backward-writer.js';

/** Writes a value in front of what was written before. */
export type WriteValue = (writer: BackwardWriter, value: unknown) => void;

/** Makes the writer of a field with its tag. */
type MakeField = (number: number, type: SchemaType) => WriteValue;

/** How many fields a word of bits stands for. */
const wordBits = 32;

const writers = new WeakMap<StructType, StructWriter>();

/** Writes the fields of a struct, each of which `makeField` makes when it is first written. */
export function structWriter(type: StructType, makeField: MakeField): WriteValue {
  let known = writers.get(type);
  if (known === undefined) {
    known = new StructWriter(type, makeField);
    writers.set(type, known);
  }
  const writer = known;
  return (bytes, value) => writer.write(bytes, value as Readonly<Record<string, unknown>>);
}

/**
 * Visits the fields that an object has, not those that its type declares, of which a Pod has a quarter. Fields are
 * written by number, like upstream does, in whatever order the object has them.
 */
class StructWriter {
  /** By number. */
  private readonly fields: StructType['fields'];
  private readonly places: ReadonlyMap<string, number>;
  private readonly inlined: readonly number[];
  private readonly made: (WriteValue | undefined)[] = [];

  constructor(
    type: StructType,
    private readonly makeField: MakeField,
  ) {
    this.fields = [...type.fields].sort((a, b) => a.number - b.number);
    const named = this.fields.map((field, place) => ({ field, place }));
    this.places = new Map(
      named.filter(({ field }) => field.presence !== 'inline').map(({ field, place }) => [field.name, place]),
    );
    this.inlined = named.filter(({ field }) => field.presence === 'inline').map(({ place }) => place);
  }

  write(writer: BackwardWriter, object: Readonly<Record<string, unknown>>): void {
    const { fields, places, inlined } = this;
    if (fields.length > 2 * wordBits) {
      for (let place = fields.length - 1; place >= 0; place--) this.writeField(writer, object, place);
      return;
    }
    let low = 0;
    let high = 0;
    for (const place of inlined) {
      if (place < wordBits) low |= 1 << place;
      else high |= 1 << (place - wordBits);
    }
    for (const name in object) {
      const place = places.get(name);
      if (place === undefined) continue;
      if (place < wordBits) low |= 1 << place;
      else high |= 1 << (place - wordBits);
    }
    while (high !== 0) {
      const bit = wordBits - 1 - Math.clz32(high);
      high ^= 1 << bit;
      this.writeField(writer, object, wordBits + bit);
    }
    while (low !== 0) {
      const bit = wordBits - 1 - Math.clz32(low);
      low ^= 1 << bit;
      this.writeField(writer, object, bit);
    }
  }

  private writeField(writer: BackwardWriter, object: Readonly<Record<string, unknown>>, place: number): void {
    const { name, number, type, presence } = this.fields[place] as StructType['fields'][number];
    const value = presence === 'inline' ? object : object[name];
    if (value === null || value === undefined) return;
    let write = this.made[place];
    if (write === undefined) {
      write = this.makeField(number, type);
      this.made[place] = write;
    }
    write(writer, value);
  }
}
