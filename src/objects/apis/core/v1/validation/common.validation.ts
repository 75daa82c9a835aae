import { isDeepStrictEqual } from 'node:util';
import { type FieldError, type FieldPath, invalid, notSupported } from '../../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../../base/machinery/vendor.js';

/** What pod rules need to know besides the pod. */
export interface PodValidationOptions {
  readonly names: VendorNames;
}

const notNegative = 'must be greater than or equal to 0';
const maxInt32 = 2147483647;

/** A number that must not be below zero; a missing one is fine. */
export function checkNonNegative(value: number | null | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value !== null && value !== undefined && value < 0) errors.push(invalid(path, value, notNegative));
}

/** A number that must lie between `from` and `to`, both included. */
export function checkRange(value: number, from: number, to: number, path: FieldPath, errors: FieldError[]): void {
  if (value < from || value > to) errors.push(invalid(path, value, `must be between ${from} and ${to}, inclusive`));
}

/** A user or group id; a missing one is fine. */
export function checkId(value: number | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value !== undefined) checkRange(value, 0, maxInt32, path, errors);
}

/** One of a closed list of values, listed in the message in the given order. */
export function checkOneOf(value: string, allowed: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (!allowed.includes(value)) errors.push(notSupported(path, value, allowed));
}

/** Reports every broken rule of a text. */
export function checkText(
  value: string,
  rule: (value: string) => readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const message of rule(value)) errors.push(invalid(path, value, message));
}

/** A path below some directory: relative, and never leaving it. */
export function checkLocalDescendingPath(value: string, path: FieldPath, errors: FieldError[]): void {
  if (value.startsWith('/')) errors.push(invalid(path, value, 'must be a relative path'));
  checkNoBacksteps(value, path, errors);
}

/** A path without `..` segments. */
export function checkNoBacksteps(value: string, path: FieldPath, errors: FieldError[]): void {
  if (value.includes('..') && value.split('/').includes('..')) {
    errors.push(invalid(path, value, "must not contain '..'"));
  }
}

/** A field that keeps the value it was created with. */
export function checkImmutable(value: unknown, old: unknown, path: FieldPath, errors: FieldError[]): void {
  if (!isDeepStrictEqual(value, old)) errors.push(invalid(path, value, 'field is immutable'));
}
