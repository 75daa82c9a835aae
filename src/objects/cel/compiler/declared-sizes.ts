import { either, one, type Range, unbounded } from '../cost-estimate.js';
import type { CelType } from '../values/cel-type.js';

/**
 * The declared type that bounds the size of a value. As in the newest release, it is found by a path from the declared
 * type of the environment; the first part of the path is the name of a variable and is ignored. So a path that begins
 * elsewhere (at the result of a call, say) also leads to the declared type, and such values get wrong sizes. That is
 * kept because definitions that the newest release accepts must be accepted; the limit of an evaluation does not depend
 * on estimates.
 *
 * `type` is undefined where the path leads nowhere.
 */
export interface DeclaredPlace {
  readonly type: CelType | undefined;
}

/** Sizes of the keys and values of a list or map that the expression itself has made. */
export interface EntrySizes {
  readonly isList: boolean;
  readonly key: Range;
  readonly value: Range;
}

/** The sizes of the entries of a value that is one of two; known only if both are. */
export function eitherEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { isList: a.isList, key: either(a.key, b.key), value: either(a.value, b.value) };
}

export type PathStep = '@items' | '@values' | '@keys' | '@indices' | { readonly field: string };

/** The place of a part of a value; `root` is the declared type of the environment. */
export function placeBelow(
  place: DeclaredPlace | undefined,
  step: PathStep,
  root: CelType | undefined,
): DeclaredPlace | undefined {
  if (root === undefined) return undefined;
  return place === undefined ? { type: root } : { type: place.type && typeBelow(place.type, step) };
}

function typeBelow(type: CelType, step: PathStep): CelType | undefined {
  if (typeof step === 'object') {
    if (type.kind === 'map' && type.hasSizedFields === true) return type.value;
    return type.kind === 'object' ? type.fields(step.field) : undefined;
  }
  if (step === '@keys') return type.kind === 'map' ? type.key : undefined;
  if (step === '@indices') return undefined;
  return type.kind === 'list' ? type.element : type.kind === 'map' ? type.value : undefined;
}

const scalarKinds: ReadonlySet<CelType['kind']> = new Set(['bool', 'int', 'uint', 'double', 'timestamp', 'duration']);

/** The size of a value whose place is not known: one for simple values, otherwise `known`. */
export function declaredSizeOf(type: CelType, known: Range = unbounded): Range {
  return scalarKinds.has((type.kind === 'optional' ? type.value : type).kind) ? one : known;
}

/** The declared size of a value at a place; without a declaration there, as {@link declaredSizeOf}. */
export function sizeAt(place: DeclaredPlace | undefined, type: CelType, known: Range = unbounded): Range {
  const declared = place?.type;
  if (declared === undefined) return declaredSizeOf(type, known);
  return { min: 0, max: 'maxSize' in declared ? (declared.maxSize ?? 0) : 0 };
}
