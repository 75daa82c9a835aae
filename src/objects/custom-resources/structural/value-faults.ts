import {
  FieldPath,
  invalid,
  notSupported,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../../base/machinery/field-error.js';
import type { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { canonicalText } from './comparison.js';
import { type SchemaFault, shown } from './faults.js';
import { formatCheck } from './formats.js';
import type { JsonRecord } from './json-objects.js';
import type { ValueValidation } from './structural-schema.js';
import type { ValidationBudget } from './validation-budget.js';

/** A violated rule of a value, or undefined. Of several related faults the first counts, as on the reference. */
type Found = SchemaFault['toError'] | undefined;

/** Checks `enum`, for values of any type. */
export function commonFault({ enum: allowed }: ValueValidation, value: unknown, work: ValidationBudget): Found {
  if (allowed === undefined) return undefined;
  if (typeof value === 'object' && value !== null && allowed.hasComposites) work.charge(canonicalText(value).length);
  if (allowed.has(value)) return undefined;
  return (path) =>
    notSupported(
      path,
      value === null ? 'null' : shown(value),
      allowed.values.slice(0, maxShownAllowed).map(allowedText),
    );
}

/** The most values of an enum that an error shows. */
const maxShownAllowed = 1000;

function allowedText(value: unknown): string {
  return typeof value === 'string' ? value : canonicalText(value);
}

/** Checks the length in code points, and the pattern. */
export function stringFault(validation: ValueValidation, value: string, work: ValidationBudget): Found {
  const { maxLength, minLength, pattern } = validation;
  // There are never more code points than code units, and never less than half as many.
  if (maxLength !== undefined && value.length > maxLength && codePoints(value) > maxLength) {
    return (path) => tooLong(path, maxLength);
  }
  if (minLength !== undefined && value.length < minLength * 2 && codePoints(value) < minLength) {
    return (path, place) => invalid(path, value, `${place} in body should be at least ${minLength} chars long`);
  }
  if (pattern !== undefined && !pattern.isIn(value, work)) {
    return (path, place) => invalid(path, value, `${place} in body should match '${pattern.source}'`);
  }
  return undefined;
}

/** Checks the format of a string. */
export function formatFault({ format }: ValueValidation, value: string): Found {
  if (format === '' || formatCheck(format)?.(value) !== false) return undefined;
  const text = JSON.stringify(value.slice(0, maxShownText));
  return (path, place) => typeInvalid(path, value, `${place} in body must be of type ${format}: ${text}`);
}

const maxShownText = 1000;

function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) !== 0xd800 || (text.charCodeAt(i + 1) & 0xfc00) !== 0xdc00) continue;
    count--;
    i++;
  }
  return count;
}

const maxInt32 = 2 ** 31 - 1;
const maxFloat = 2 ** 128 - 2 ** 104;

/** Where messages about the range of a number say the fault is. */
const noPath = FieldPath.of('<nil>');

/**
 * Checks that a number is whole where the schema wants an integer, and the formats with a smaller range than JSON:
 * `int32` of integers, `float` of other numbers. As on the reference, the fault has no field of its own.
 */
export function numberFormatFault(
  format: string,
  type: string | undefined,
  isWhole: boolean,
  value: number | bigint | ExactNumber,
): Found {
  if (type !== 'integer' && (type !== 'number' || format !== 'float')) return undefined;
  const number = Number(value);
  const isShort = type === 'integer' && format === 'int32';
  const isBeyond = isShort ? number < -maxInt32 - 1 || number > maxInt32 : Math.abs(number) > maxFloat;
  if (type === 'integer' ? isWhole && !(isShort && isBeyond) : !isBeyond) return undefined;
  const named = numberFormats.has(format) ? `with format ${format}` : '(default format)';
  return (_path, place) => invalid(noPath, '', `Checked value must be of type ${type} ${named} in ${place}`);
}

/** The formats of numbers, which have no check of their own. */
export const numberFormats: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double']);

/** Checks `multipleOf`. */
export function multipleFault({ multipleOf }: ValueValidation, value: number | bigint | ExactNumber): Found {
  const number = typeof value === 'object' ? value.valueOf() : value;
  if (multipleOf !== undefined && !isMultiple(number, multipleOf)) {
    return (path, place) =>
      invalid(path, value, `${place} in body should be a multiple of ${limitText(multipleOf, number)}`);
  }
  return undefined;
}

/** Checks the limits of a number. Whole numbers are compared exactly, whatever their size. */
export function rangeFault(validation: ValueValidation, value: number | bigint | ExactNumber): Found {
  const { maximum, minimum, exclusiveMaximum, exclusiveMinimum } = validation;
  const number = typeof value === 'object' ? value.valueOf() : value;
  if (maximum !== undefined && (exclusiveMaximum ? !(number < maximum) : number > maximum)) {
    const rule = exclusiveMaximum ? 'less than' : 'less than or equal to';
    return (path, place) => invalid(path, value, `${place} in body should be ${rule} ${limitText(maximum, number)}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? !(number > minimum) : number < minimum)) {
    const rule = exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    return (path, place) => invalid(path, value, `${place} in body should be ${rule} ${limitText(minimum, number)}`);
  }
  return undefined;
}

/** Fractions are compared with the precision of a double, as the reference does. */
function isMultiple(value: number | bigint, factor: number): boolean {
  if (factor <= 0) return true;
  if (Number.isSafeInteger(factor)) {
    if (typeof value === 'bigint') return value % BigInt(factor) === 0n;
    if (Number.isSafeInteger(value)) return value % factor === 0;
  }
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.abs(quotient);
}

/** A limit as messages show it: in full beside whole numbers, otherwise as doubles are printed. */
function limitText(limit: number, value: number | bigint): string {
  if (typeof value === 'bigint' || Number.isInteger(value)) return String(limit);
  const exponent = limit === 0 ? 0 : Math.floor(Math.log10(Math.abs(limit)));
  if (exponent >= -4 && exponent < 6) return String(limit);
  return limit.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Checks the number of items. */
export function arrayFault({ maxItems, minItems }: ValueValidation, value: readonly unknown[]): Found {
  const { length } = value;
  if (minItems !== undefined && length < minItems) {
    return (path, place) => invalid(path, length, `${place} in body should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && length > maxItems) return (path) => tooMany(path, length, maxItems);
  return undefined;
}

/** Checks the number of members. */
export function objectFault({ maxProperties, minProperties }: ValueValidation, value: JsonRecord): Found {
  if (maxProperties === undefined && minProperties === undefined) return undefined;
  const count = Object.keys(value).length;
  if (minProperties !== undefined && count < minProperties) {
    return (path, place) => invalid(path, count, `${place} in body should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && count > maxProperties) return (path) => tooMany(path, count, maxProperties);
  return undefined;
}
