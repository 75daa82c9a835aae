import { isRecord, type JsonRecord, setMember, sortedKeys } from './json-objects.js';
import type { StructuralSchema } from './structural-schema.js';
import { TooManyDefaultsError } from './too-many-defaults-error.js';

/** How many values defaults may add to any object, and how many for each value of a large object. */
const baseAdditions = 20_000;
const additionsPerValue = 3;
/** The most characters of all added strings: about as many as a request may have. */
const mostText = 4_000_000;

/**
 * The value with the defaults of its schema in every object that it contains; a default that is an object is filled in
 * turn. A null of a field that is not nullable is replaced by its default. Without one it stays, for
 * {@link validateValue} to refuse. Sorted keys stay sorted, and kind, apiVersion and metadata of a whole object stay
 * first.
 *
 * Changes nothing in place: the result is the value itself when nothing is missing, and shares with it what did not
 * change. Defaults are copied deeply. Looks only at parts that have defaults. Takes time linear in the value.
 *
 * @throws {TooManyDefaultsError} when they would add more than a fixed number of values, and several times those of the
 * value, or strings longer than a request: a short default, or list of empty objects, could become hundreds of
 * megabytes.
 */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  return schema.hasDefaults ? new Filling().filled(schema, value) : value;
}

/** Fills one value. */
class Filling {
  private left = baseAdditions;
  private textLeft = mostText;

  filled(schema: StructuralSchema, value: unknown): unknown {
    if (!schema.hasDefaults || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return schema.items === undefined ? value : this.filledList(schema.items, value);
    return isRecord(value) ? this.filledObject(schema, value) : value;
  }

  private filledList(items: StructuralSchema, list: readonly unknown[]): unknown {
    let copy: unknown[] | undefined;
    this.left += list.length * additionsPerValue;
    for (let i = 0; i < list.length; i++) {
      const element = list[i];
      const isReplaced = element === null && items.default !== undefined && !items.nullable;
      const filled = this.filled(items, isReplaced ? this.added(items.default) : element);
      if (filled === element) continue;
      copy ??= list.slice();
      copy[i] = filled;
    }
    return copy ?? list;
  }

  private filledObject(schema: StructuralSchema, object: JsonRecord): unknown {
    const { properties, additionalProperties } = schema;
    const additional = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    /** The changes: new values by key. */
    let changes: Map<string, unknown> | undefined;
    for (const key in object) {
      this.left += additionsPerValue;
      const member = object[key];
      const property = properties.get(key) ?? additional;
      if (property === undefined) continue;
      const isReplaced = member === null && property.default !== undefined && !property.nullable;
      if (!isReplaced && !property.hasDefaults) continue;
      const filled = this.filled(property, isReplaced ? this.added(property.default) : member);
      if (filled === member) continue;
      changes ??= new Map();
      changes.set(key, filled);
    }
    let hasNewKeys = false;
    for (const [key, property] of properties) {
      if (property.default === undefined || Object.hasOwn(object, key)) continue;
      hasNewKeys = true;
      this.addText(key);
      changes ??= new Map();
      changes.set(key, this.filled(property, this.added(property.default)));
    }
    return changes === undefined ? object : withChanges(object, changes, hasNewKeys);
  }

  /** A copy of a default. Values filled into the copy count as added, too. */
  private added(value: unknown): unknown {
    if (--this.left < 0) throw new TooManyDefaultsError();
    if (Array.isArray(value)) {
      this.left -= value.length * additionsPerValue;
      return value.map((element) => this.added(element));
    }
    if (typeof value === 'string') this.addText(value);
    if (!isRecord(value)) return value;
    const copy: JsonRecord = {};
    for (const key of sortedKeys(value)) {
      this.left -= additionsPerValue;
      this.addText(key);
      setMember(copy, key, this.added(value[key]));
    }
    return copy;
  }

  private addText(text: string): void {
    this.textLeft -= text.length;
    if (this.textLeft < 0) throw new TooManyDefaultsError();
  }
}

/** `undefined` among the changes drops the field. */
function withChanges(object: JsonRecord, changes: ReadonlyMap<string, unknown>, hasNewKeys: boolean): JsonRecord {
  const before = Object.keys(object);
  const keys = hasNewKeys ? inOrder(object, before, changes) : before;
  const copy: JsonRecord = {};
  for (const key of keys) {
    const value = changes.has(key) ? changes.get(key) : object[key];
    if (value !== undefined) setMember(copy, key, value);
  }
  return copy;
}

/** All keys sorted, except kind, apiVersion and metadata of a whole object: only there do they come first. */
function inOrder(object: JsonRecord, before: readonly string[], changes: ReadonlyMap<string, unknown>): string[] {
  let head = 0;
  if (before[0] === 'kind' && before[1] === 'apiVersion') head = before[2] === 'metadata' ? 3 : 2;
  const others = before.slice(head);
  for (const key of changes.keys()) if (!Object.hasOwn(object, key)) others.push(key);
  return [...before.slice(0, head), ...others.sort()];
}
