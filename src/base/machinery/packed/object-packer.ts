import { getHeapStatistics } from 'node:v8';
import type { ApiObject } from '../api-object.js';
import { ExactNumber } from '../json/exact-numbers.js';
import { deepEqual } from '../patch/json-value.js';
import { PackedPart, PackedParts } from './packed-parts.js';

/** Parts above this size, in bytes, are packed if the object is packed. */
const heavyPart = 4 * 1024;
/**
 * The approximate size of the unpacked rest of a packed object, in bytes; the second value applies if the heap is half
 * full.
 */
const mostPlain = 32 * 1024;
const tightPlain = 8 * 1024;
/** A value with more entries than this is packed as a whole: a part for each entry would cost more than it saves. */
const mostEntries = 64;
/** The memory that a packed part costs in its object, in bytes. */
const placeSize = 512;
/** Objects with text above this size are packed; above the second limit if the heap is half full. */
const usualLimit = 16 * 1024;
const tightLimit = 4 * 1024;
const tightHeap = 0.5;
/** The heap is checked once per this many objects. */
const unlooked = 64;

type Container = Record<string, unknown> | unknown[];

/**
 * Reduces the memory of large objects: their large parts, at any depth, become properties that read compressed text on
 * demand. Readers of the object notice no other difference. Equal parts, such as those of pods from one template, are
 * stored once.
 */
export class ObjectPacker {
  private looked = 0;
  private limit = usualLimit;

  constructor(readonly parts = new PackedParts()) {}

  /**
   * The object in the form in which it should be kept. May change the object, which must belong to the caller.
   *
   * @param size of the object's text
   */
  packed<T extends ApiObject>(object: T, size: number): T | Promise<T> {
    if (this.looked++ % unlooked === 0) {
      const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics();
      this.limit = used > most * tightHeap ? tightLimit : usualLimit;
    }
    if (size <= this.limit) return object;
    const pending: Promise<void>[] = [];
    // The parts that every reader uses are measured first, so that they are the last to be packed.
    const { metadata } = object;
    const budget = { left: this.limit === tightLimit ? tightPlain : mostPlain };
    this.packEntries(metadata as unknown as Container, budget, pending);
    for (const [key, value] of Object.entries(object)) {
      if (key !== 'metadata') this.packEntry(object as unknown as Container, key, value, budget, pending);
    }
    return pending.length === 0 ? object : Promise.all(pending).then(() => object);
  }

  private packEntry(
    holder: Container,
    key: string,
    value: unknown,
    budget: { left: number },
    pending: Promise<void>[],
  ): void {
    const size = packedSizeOf(value, heavyPart);
    if (size <= heavyPart) return;
    if (isContainer(value) && this.packEntries(value, budget, pending)) return;
    const put = (part: PackedPart) => putPart(holder, key, part);
    const part = this.parts.pack(value);
    if (part instanceof PackedPart) put(part);
    else pending.push(part.then(put));
  }

  /** Packs the large entries, if that makes the rest small enough. */
  private packEntries(container: Container, budget: { left: number }, pending: Promise<void>[]): boolean {
    const entries = Object.entries(container);
    if (entries.length > mostEntries) return false;
    let rest = 0;
    for (const [key, value] of entries) {
      const size = packedSizeOf(value, heavyPart);
      rest += key.length + (size > heavyPart ? placeSize : size);
    }
    if (rest > budget.left) return false;
    budget.left -= rest;
    for (const [key, value] of entries) this.packEntry(container, key, value, budget, pending);
    return true;
  }
}

const parts = new WeakMap<() => unknown, PackedPart>();

function putPart(holder: Container, key: string, part: PackedPart): void {
  const get = () => part.value;
  parts.set(get, part);
  Object.defineProperty(holder, key, { get, enumerable: true, configurable: true });
}

/** The approximate size of the JSON text of a value; anything above `most` if it is larger. Reads no packed part. */
export function packedSizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (!isContainer(value)) return 8;
  let size = 2;
  for (const key in value) {
    const part = packedPart(value, key);
    size += key.length + 4 + (part?.size ?? packedSizeOf((value as Record<string, unknown>)[key], most - size));
    if (size > most) break;
  }
  return size;
}

/** The approximate size of the text of one field; see {@link packedSizeOf}. */
export function sizeOfField(holder: object, key: string, most: number): number {
  return packedPart(holder, key)?.size ?? packedSizeOf((holder as Record<string, unknown>)[key], most);
}

/** Results of earlier comparisons of two different parts. */
const compared = new WeakMap<PackedPart, WeakMap<PackedPart, boolean>>();

/**
 * {@link deepEqual} for values that may have packed parts. Equal parts are one instance, so most parts need not be
 * read; two different parts are compared only once.
 */
export function packedEqual(a: unknown, b: unknown): boolean {
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return deepEqual(a, b);
  if (a instanceof ExactNumber || b instanceof ExactNumber) return deepEqual(a, b);
  // A field without a value is like one that is absent.
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [left, right] = [packedPart(a, key), packedPart(b, key)];
    const isEqual =
      left !== undefined && right !== undefined
        ? equalParts(left, right)
        : packedEqual(fieldOf(a, key), fieldOf(b, key));
    if (!isEqual) return false;
  }
  return true;
}

function fieldOf(holder: Container, key: string): unknown {
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined;
}

function equalParts(a: PackedPart, b: PackedPart): boolean {
  if (a === b) return true;
  const known = compared.get(a)?.get(b);
  if (known !== undefined) return known;
  const isEqual = deepEqual(a.value, b.value);
  const ofA = compared.get(a) ?? new WeakMap<PackedPart, boolean>();
  compared.set(a, ofA.set(b, isEqual));
  return isEqual;
}

function packedPart(holder: object, key: string): PackedPart | undefined {
  const get = Object.getOwnPropertyDescriptor(holder, key)?.get;
  return get && parts.get(get);
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
