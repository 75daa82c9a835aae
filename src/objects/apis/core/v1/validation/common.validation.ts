import { isDeepStrictEqual } from 'node:util';
import { type FieldError, type FieldPath, invalid, notSupported } from '../../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../../base/machinery/vendor.js';

/** The settings that the rules for pods depend on. */
export interface PodValidationOptions {
  readonly names: VendorNames;
  /** Whether a template may ask for parts of huge pages. Default: it may not. */
  readonly allowsPartPages?: boolean;
}

const notNegative = 'must be greater than or equal to 0';
const maxInt32 = 2147483647;

/** Checks that a number, if set, is not negative. */
export function checkNonNegative(value: number | null | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value !== null && value !== undefined && value < 0) errors.push(invalid(path, value, notNegative));
}

/** Checks that a number lies between `from` and `to`, both included. */
export function checkRange(value: number, from: number, to: number, path: FieldPath, errors: FieldError[]): void {
  if (value < from || value > to) errors.push(invalid(path, value, `must be between ${from} and ${to}, inclusive`));
}

/** Checks the range of a user or group id, if set. */
export function checkId(value: number | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value !== undefined) checkRange(value, 0, maxInt32, path, errors);
}

/** Checks that a value is one of those allowed, which the message lists in the given order. */
export function checkOneOf(value: string, allowed: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (!allowed.includes(value)) errors.push(notSupported(path, value, allowed));
}

/** Adds an error for each message that `rule` returns for the string. */
export function checkText(
  value: string,
  rule: (value: string) => readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const message of rule(value)) errors.push(invalid(path, value, message));
}

/** Checks that a path is relative and does not leave its directory. */
export function checkLocalDescendingPath(value: string, path: FieldPath, errors: FieldError[]): void {
  if (value.startsWith('/')) errors.push(invalid(path, value, 'must be a relative path'));
  checkNoBacksteps(value, path, errors);
}

/** Checks that a path has no `..` segments. */
export function checkNoBacksteps(value: string, path: FieldPath, errors: FieldError[]): void {
  if (value.includes('..') && value.split('/').includes('..')) {
    errors.push(invalid(path, value, "must not contain '..'"));
  }
}

/** Checks that a field has the value with which it was created. */
export function checkImmutable(value: unknown, old: unknown, path: FieldPath, errors: FieldError[]): void {
  if (!isDeepStrictEqual(value, old)) errors.push(invalid(path, value, 'field is immutable'));
}
