import { type FieldError, FieldPath } from '../../../base/machinery/field-error.js';
import { isRecord, type JsonRecord, setMember } from './json-objects.js';

/** The position of a walk through a value: field names and indexes. */
export type Segments = readonly (string | number)[];

/** `spec.list[0].name`; empty at the root. */
export function placeText(segments: Segments): string {
  let text = '';
  for (const segment of segments) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

/** What the reference prints for the path of a whole object. */
const noPath = FieldPath.of('<nil>');

/** The path of a position below `base`; without a base, that of a field of the object. */
export function pathOf(base: FieldPath | undefined, place: string): FieldPath {
  if (place === '') return base ?? noPath;
  if (base === undefined) return FieldPath.of(place);
  const [, index, rest] = leadingIndex.exec(place) ?? [];
  return index === undefined ? base.child(place) : pathOf(base.key(index), rest as string);
}

const leadingIndex = /^\[(\d+)\]\.?(.*)$/s;

/** A violated rule that is not an error yet: a later check may excuse it. */
export interface SchemaFault {
  readonly place: string;
  readonly toError: (path: FieldPath, place: string) => FieldError;
  /** Whether the fault concerns the whole object rather than the field. */
  readonly isOfWhole?: boolean;
}

/** The errors for faults of the value at `base`; of a whole object if that is undefined. */
export function toErrors(faults: readonly SchemaFault[], base: FieldPath | undefined): FieldError[] {
  return faults.map(({ toError, place, isOfWhole }) => {
    return toError(isOfWhole === true ? pathOf(base, '') : pathOf(base, place), place);
  });
}

/** The most values of an object or list that an error shows. */
const maxShownValues = 200;

/** A value for a message: only the beginning of large objects and lists. */
export function shown(value: unknown): unknown {
  const budget = { left: maxShownValues };
  return shownPart(value, budget);
}

function shownPart(value: unknown, budget: { left: number }): unknown {
  budget.left--;
  if (Array.isArray(value)) {
    const part: unknown[] = [];
    for (const element of value) {
      if (budget.left <= 0) break;
      part.push(shownPart(element, budget));
    }
    return part;
  }
  if (!isRecord(value)) return value;
  const part: JsonRecord = {};
  for (const key in value) {
    if (budget.left <= 0) break;
    setMember(part, key, shownPart(value[key], budget));
  }
  return part;
}
