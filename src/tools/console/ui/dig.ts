type Step = string | number;

/** What stands at a path of an object that anybody may have written; undefined where there is nothing. */
export function dig(value: unknown, ...path: readonly Step[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<Step, unknown>>)[step];
  }
  return at;
}

/** A string, number or boolean as text; empty for anything else. */
export function textAt(value: unknown, ...path: readonly Step[]): string {
  const found = dig(value, ...path);
  return typeof found === 'object' || found === undefined ? '' : String(found);
}

export function numberAt(value: unknown, ...path: readonly Step[]): number {
  const found = dig(value, ...path);
  return typeof found === 'number' ? found : 0;
}

export function listAt(value: unknown, ...path: readonly Step[]): readonly unknown[] {
  const found = dig(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The fields of an object with texts. */
export function entriesAt(value: unknown, ...path: readonly Step[]): readonly (readonly [string, string])[] {
  const found = dig(value, ...path);
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return [];
  return Object.keys(found).map((key) => [key, textAt(found, key)] as const);
}
