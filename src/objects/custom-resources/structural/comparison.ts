import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { isRecord, sortedKeys } from './json-objects.js';

/**
 * A scalar as a key of a Set or Map that is the same for equal values: numbers regardless of their spelling, whole
 * numbers exactly.
 */
export function scalarKey(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const near = Number(value);
    return Number.isSafeInteger(near) ? near : value;
  }
  return value instanceof ExactNumber ? value.valueOf() : value;
}

/** A string that is the same for equal values, and different for different ones. Takes time linear in the value. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (isRecord(value)) {
    return `{${sortedKeys(value)
      .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`)
      .join(',')}}`;
  }
  const scalar = scalarKey(value);
  return typeof scalar === 'string' ? JSON.stringify(scalar) : String(scalar);
}

/** A set of values for membership tests, found by hash. */
export class ValueSet {
  private readonly scalars = new Set<unknown>();
  private readonly others = new Set<string>();

  /** Whether the value was new. */
  add(value: unknown): boolean {
    if (isScalar(value)) {
      const key = scalarKey(value);
      if (this.scalars.has(key)) return false;
      this.scalars.add(key);
      return true;
    }
    const text = canonicalText(value);
    if (this.others.has(text)) return false;
    this.others.add(text);
    return true;
  }

  has(value: unknown): boolean {
    if (isScalar(value)) return this.scalars.has(scalarKey(value));
    return this.others.size > 0 && this.others.has(canonicalText(value));
  }

  /** Whether any value is an object or a list, which take longer to look up. */
  get hasComposites(): boolean {
    return this.others.size > 0;
  }
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof ExactNumber;
}

/**
 * Compares values, many of which contain one another. Remembers how objects and lists compared, so that comparing a
 * value and then its parts takes time linear in the whole.
 */
export class Comparer {
  private readonly known = new Map<object, { readonly other: object; readonly areEqual: boolean }>();

  areEqual(a: unknown, b: unknown): boolean {
    if (a === b) return true;
    if (isScalar(a) || isScalar(b)) return isScalar(a) && isScalar(b) && scalarKey(a) === scalarKey(b);
    const known = this.known.get(a as object);
    if (known !== undefined && known.other === b) return known.areEqual;
    const areEqual = Array.isArray(a) ? Array.isArray(b) && this.areEqualLists(a, b) : this.areEqualObjects(a, b);
    this.known.set(a as object, { other: b as object, areEqual });
    return areEqual;
  }

  private areEqualLists(a: readonly unknown[], b: readonly unknown[]): boolean {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!this.areEqual(a[i], b[i])) return false;
    return true;
  }

  private areEqualObjects(a: unknown, b: unknown): boolean {
    if (!isRecord(a) || !isRecord(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) if (!Object.hasOwn(b, key) || !this.areEqual(a[key], b[key])) return false;
    return true;
  }
}
