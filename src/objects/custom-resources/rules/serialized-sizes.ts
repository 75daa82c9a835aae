import type { StructuralSchema } from '../structural/index.js';

/** The largest request, in bytes: no value is larger. */
const requestSize = 3 * 1024 * 1024;

/** Bytes of values in JSON, with their quotes. */
export const sizes = {
  minString: 2,
  minBool: 4,
  minNumber: 1,
  minList: 2,
  minMap: 2,
  date: 12,
  minDateTime: 22,
  maxDateTime: 32,
  minDuration: 3,
  maxDuration: 32,
} as const;

/** The most bytes of a string in a request. */
export const largestString = requestSize - 2;

/** The most elements that a list in a request has, if each has at least `minSize` bytes. */
export function mostItems(minSize: number): number {
  return Math.floor((requestSize - 2) / (minSize + 1));
}

/** The most entries that a map in a request has, if each value has at least `minSize` bytes. */
export function mostEntries(minSize: number): number {
  return Math.floor((requestSize - 2) / (minSize + 6));
}

/** How often a value of at least `minSize` bytes can occur in a request. */
export function mostOccurrences(minSize: number): number {
  return Math.floor(requestSize / (minSize + 1));
}

/** Most bytes of one character. */
const bytesPerCharacter = 4;

/** The most bytes of the strings of a schema. */
export function stringSize({ validation }: StructuralSchema): number {
  const { format = '', maxLength } = validation ?? {};
  switch (format) {
    case 'date':
      return sizes.date;
    case 'date-time':
      return sizes.maxDateTime;
    case 'duration':
      return sizes.maxDuration;
    case 'byte':
      return maxLength ?? largestString;
  }
  if (maxLength !== undefined) return maxLength * bytesPerCharacter;
  const allowed = validation?.enum?.values;
  return allowed === undefined ? largestString : allowed.reduce<number>(longerText, 0);
}

function longerText(longest: number, value: unknown): number {
  return typeof value === 'string' ? Math.max(longest, Buffer.byteLength(value)) : longest;
}
