import { duplicate, invalid } from '../../../base/machinery/field-error.js';
import { ValueSet } from './comparison.js';
import { embeddedFaults } from './embedded-resource.js';
import { placeText, type SchemaFault, shown } from './faults.js';
import { isRecord, type JsonRecord } from './json-objects.js';
import { itemKey, keyValue } from './list-items.js';
import type { StructuralSchema } from './structural-schema.js';

/**
 * Adds, up to a total number of faults, the faults of embedded resources, and of list maps and sets whose items are not
 * unique. The latter count only if the old value had none. Takes time linear in the value.
 */
export function structureFaults(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  faults: SchemaFault[],
  max: number,
): void {
  const embedded: SchemaFault[] = [];
  const lists: SchemaFault[] = [];
  new StructureWalk(embedded, lists, max).visit(schema, value);
  for (const fault of embedded) faults.push(fault);
  if (lists.length === 0) return;
  if (old !== undefined) {
    const oldLists: SchemaFault[] = [];
    new StructureWalk([], oldLists, 1).visit(schema, old);
    if (oldLists.length > 0) return;
  }
  for (const fault of lists) faults.push(fault);
}

/** Adds the faults of embedded resources only. */
export function embeddedResourceFaults(
  schema: StructuralSchema,
  value: unknown,
  faults: SchemaFault[],
  max: number,
): void {
  new StructureWalk(faults, [], max).visit(schema, value);
}

class StructureWalk {
  private readonly segments: (string | number)[] = [];

  constructor(
    private readonly embedded: SchemaFault[],
    private readonly lists: SchemaFault[],
    private readonly max: number,
  ) {}

  visit(schema: StructuralSchema, value: unknown): void {
    if (typeof value !== 'object' || value === null || !schema.hasStructureRules) return;
    if (Array.isArray(value)) this.visitList(schema, value);
    else if (isRecord(value)) this.visitObject(schema, value);
  }

  private visitObject(schema: StructuralSchema, value: JsonRecord): void {
    if (schema.xEmbedded && this.embedded.length < this.max) {
      for (const fault of embeddedFaults(value, placeText(this.segments))) this.embedded.push(fault);
    }
    const { properties, additionalProperties } = schema;
    for (const key in value) {
      const member = properties.get(key) ?? additionalProperties;
      if (typeof member !== 'object' || !member.hasStructureRules) continue;
      this.segments.push(key);
      this.visit(member, value[key]);
      this.segments.pop();
    }
  }

  private visitList(schema: StructuralSchema, list: readonly unknown[]): void {
    if (schema.xListType === 'set') this.checkUnique(list, (item) => item, shown);
    else if (schema.xListType === 'map') {
      for (let i = 0; i < list.length; i++) {
        const item = list[i];
        if (isRecord(item)) continue;
        this.failItem(i, (path) => invalid(path, shown(item), 'must be an object for an array of list-type map'));
      }
      const showKeys = (item: unknown) => keysOf(schema, item as JsonRecord);
      this.checkUnique(list, (item) => itemKey(schema, item), showKeys);
    }
    const { items } = schema;
    if (items?.hasStructureRules !== true) return;
    for (let i = 0; i < list.length; i++) {
      this.segments.push(i);
      this.visit(items, list[i]);
      this.segments.pop();
    }
  }

  /** Reports each value that occurs more than once, once. Items without a key are ignored. */
  private checkUnique(
    list: readonly unknown[],
    keyOf: (item: unknown) => unknown,
    show: (item: unknown) => unknown,
  ): void {
    const seen = new ValueSet();
    const reported = new ValueSet();
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      const key = keyOf(item);
      if (key === undefined || seen.add(key) || !reported.add(key)) continue;
      this.failItem(i, (path) => duplicate(path, show(item)));
    }
  }

  private failItem(index: number, toError: SchemaFault['toError']): void {
    if (this.lists.length >= this.max) return;
    this.segments.push(index);
    this.lists.push({ place: placeText(this.segments), toError });
    this.segments.pop();
  }
}

function keysOf(schema: StructuralSchema, item: JsonRecord): JsonRecord {
  // Not assigned one by one, because a key may be called `__proto__`.
  return Object.fromEntries(
    schema.xListMapKeys.flatMap((name) => {
      const value = keyValue(schema, item, name);
      return value === undefined ? [] : [[name, shown(value)]];
    }),
  );
}
