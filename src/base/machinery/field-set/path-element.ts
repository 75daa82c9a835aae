import { ExactNumber, parseJson } from '../json/exact-numbers.js';

/**
 * One step of a field path in the text form of FieldsV1: `f:<field or map key>`, `k:<JSON of an element's keys>`,
 * `v:<JSON of an element of a set>`, `i:<index>`. `.` stands for the node itself.
 */
export type PathElement = string;

export const self: PathElement = '.';

/** The elements of declared fields, so that they need not be built for every object. */
const declaredElements = new Map<string, PathElement>();

/** Records that a name is that of a declared field. Only declared names are cached, since they are few. */
export function declareField(name: string): void {
  declaredElements.set(name, `f:${name}`);
}

export function fieldElement(name: string): PathElement {
  return declaredElements.get(name) ?? `f:${name}`;
}

export function valueElement(value: unknown): PathElement {
  return `v:${JSON.stringify(value)}`;
}

/** @param pairs texts of {@link keyPair}, sorted by name, with commas between them */
export function keyElement(pairs: string): PathElement {
  return `k:{${pairs}}`;
}

export function keyPair(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

/** The canonical spelling of a client's element; undefined when it is not an element. */
export function normalizeElement(text: string): PathElement | undefined {
  if (text === self || text.startsWith('f:')) return text;
  const rest = text.slice(2);
  if (text.startsWith('i:')) return /^(0|[1-9]\d{0,9})$/.test(rest) ? text : undefined;
  const value = parsed(rest);
  if (value === undefined) return undefined;
  if (text.startsWith('v:')) return valueElement(value);
  if (!text.startsWith('k:') || typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const pairs = Object.entries(value);
  return pairs.length === 0
    ? undefined
    : keyElement(
        pairs
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, value]) => keyPair(name, value))
          .join(','),
      );
}

/** A path step in the form of messages: `.name`, `[name="a",port=80]`, `[="x"]`, `[3]`. */
export function formatElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const pairs = Object.entries((parsed(rest) ?? {}) as object);
      return `[${pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

/** Sorts in place in FieldsV1 order: `.`, fields by name, keys and values by type and value, indexes. */
export function sortElements(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements;
  if (elements.every((element) => element.charCodeAt(0) === fieldCode || element === self)) return elements.sort();
  const keyed = elements.map((element) => ({
    element,
    rank: ranks.indexOf(element[0] as string),
    value: sortValue(element),
  }));
  keyed.sort((a, b) => a.rank - b.rank || compareValues(a.value, b.value));
  keyed.forEach(({ element }, i) => {
    elements[i] = element;
  });
  return elements;
}

const fieldCode = 'f'.charCodeAt(0);
const ranks = '.fkvi';

function sortValue(element: PathElement): unknown {
  const rest = element.slice(2);
  return element[0] === 'f' || element === self ? rest : parsed(rest);
}

/** The order of values in elements: numbers, strings and booleans, each by value, then the rest. */
export function compareValues(a: unknown, b: unknown): number {
  const byType = typeRank(a) - typeRank(b);
  if (byType !== 0) return byType;
  if (typeof a !== 'object' || a === null || b === null || a instanceof ExactNumber)
    return compareScalars(a as string, b as string);
  const left = Object.entries(a);
  const right = Object.entries(b as object);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [leftName, leftValue] = left[i] as [string, unknown];
    const [rightName, rightValue] = right[i] as [string, unknown];
    const order = compareScalars(leftName, rightName) || compareValues(leftValue, rightValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareScalars(a: string | number | boolean, b: string | number | boolean): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function typeRank(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber) return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null || value === undefined ? 5 : 4;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
