import { formatGoValue } from './go-format.js';
import type { Steps } from './turns.js';

/** Cause reasons of a 422 response, as clients read them in `details.causes[].reason`. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid';

/** One violated rule on one field. `message` is the text after `<field>: `. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly message: string;
  /** Whether an equal error comes before it, and clients expect both as causes. */
  readonly isRepeated?: true;
}

/**
 * The place in an object where a rule was violated: `spec.containers[0].name`, `metadata.labels[a/b]`. Immutable;
 * children are new paths. Text is built only when an error is reported, so walking a valid object creates no strings.
 */
export class FieldPath {
  private constructor(
    private readonly parent: FieldPath | undefined,
    private readonly segment: string,
    private readonly isKey: boolean,
  ) {}

  static of(first: string, ...more: readonly string[]): FieldPath {
    let path = new FieldPath(undefined, first, false);
    for (const name of more) path = path.child(name);
    return path;
  }

  child(name: string): FieldPath {
    return new FieldPath(this, name, false);
  }

  index(i: number): FieldPath {
    return new FieldPath(this, String(i), true);
  }

  key(key: string): FieldPath {
    return new FieldPath(this, key, true);
  }

  /** The steps from the root. Keys are indexes of lists and names in maps. */
  segments(): { readonly name: string; readonly isKey: boolean }[] {
    const before = this.parent?.segments() ?? [];
    before.push({ name: this.segment, isKey: this.isKey });
    return before;
  }

  toString(): string {
    const own = this.isKey ? `[${this.segment}]` : this.segment;
    if (this.parent === undefined) return own;
    const before = this.parent.toString();
    return this.isKey ? before + own : `${before}.${own}`;
  }
}

/** The root of an object, printed as the reference prints a missing path. */
export const rootPath = FieldPath.of('[]');

/** The most characters of a message: a value may be as long as a request body. */
const maxMessageLength = 4096;

/** Thrown by the first error above the limit: nobody wants to read more. */
class TooManyErrors extends Error {}

/** Converts a wrong value, an object or a list or an absent one, to the form that messages show. */
export type ShownValue = (path: FieldPath, value: object | null | undefined) => unknown;

interface Collection {
  readonly errors: FieldError[];
  readonly limit: number;
  readonly shown?: ShownValue | undefined;
}

let collection: Collection | undefined;

/**
 * The errors that `check` reports. Above `limit` errors the check is stopped, whatever the size of its object, and the
 * result shows that there are more. `check` must be synchronous.
 *
 * @param shown how messages show wrong values; default: as they are
 */
export function collectErrors(
  limit: number,
  check: () => FieldError[],
  shown?: ShownValue,
): { readonly errors: FieldError[]; readonly hasMore: boolean } {
  const outer = collection;
  const own: Collection = { errors: [], limit, shown };
  collection = own;
  try {
    return { errors: check(), hasMore: false };
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    return { errors: own.errors, hasMore: true };
  } finally {
    collection = outer;
  }
}

/** {@link collectErrors} for a check in several steps. Between them, others may collect errors of their own. */
export function* collectErrorsInSteps(
  limit: number,
  check: Steps<FieldError[]>,
): Steps<{ readonly errors: FieldError[]; readonly hasMore: boolean }> {
  const own: Collection = { errors: [], limit };
  for (;;) {
    const outer = collection;
    collection = own;
    try {
      const { done, value } = check.next();
      if (done === true) return { errors: value, hasMore: false };
    } catch (error) {
      if (!(error instanceof TooManyErrors)) throw error;
      return { errors: own.errors, hasMore: true };
    } finally {
      collection = outer;
    }
    yield;
  }
}

function make(type: FieldErrorType, path: FieldPath, message: string): FieldError {
  const shown = message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}...` : message;
  const error = { type, field: path.toString(), message: shown };
  if (collection !== undefined) {
    if (collection.errors.length >= collection.limit) throw new TooManyErrors();
    collection.errors.push(error);
  }
  return error;
}

/** A mandatory value is missing. */
export function required(path: FieldPath, detail = ''): FieldError {
  return make('FieldValueRequired', path, withDetail('Required value', detail));
}

/** A value violates a rule; the message shows the value. */
export function invalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return make('FieldValueInvalid', path, withDetail(`Invalid value: ${format(path, value)}`, detail));
}

/** A value violates a rule; the message leaves it out, because the rule is about several fields or the value is long. */
export function invalidOmitted(path: FieldPath, detail: string): FieldError {
  return make('FieldValueInvalid', path, withDetail('Invalid value', detail));
}

/** A value has the wrong type or format; printed as an invalid one, but the cause has a reason of its own. */
export function typeInvalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return make('FieldValueTypeInvalid', path, withDetail(`Invalid value: ${format(path, value)}`, detail));
}

/** A value is not among the allowed ones. */
export function notSupported(path: FieldPath, value: unknown, allowed: readonly string[]): FieldError {
  const list = allowed.map((v) => JSON.stringify(v)).join(', ');
  const detail = allowed.length === 0 ? '' : `supported values: ${list}`;
  return make('FieldValueNotSupported', path, withDetail(`Unsupported value: ${format(path, value)}`, detail));
}

/** A value occurs twice where it must be unique. */
export function duplicate(path: FieldPath, value: unknown): FieldError {
  return make('FieldValueDuplicate', path, `Duplicate value: ${format(path, value)}`);
}

/** A value occurs twice; the message leaves it out. */
export function duplicateOmitted(path: FieldPath): FieldError {
  return make('FieldValueDuplicate', path, 'Duplicate value');
}

/** The field must not be set, or must not be changed, in this situation. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return make('FieldValueForbidden', path, withDetail('Forbidden', detail));
}

/** A referenced object does not exist. */
export function notFound(path: FieldPath, value: unknown, detail = ''): FieldError {
  return make('FieldValueNotFound', path, withDetail(`Not found: ${format(path, value)}`, detail));
}

/** A value is longer than `max` bytes. */
export function tooLong(path: FieldPath, max: number): FieldError {
  return make('FieldValueTooLong', path, `Too long: may not be more than ${max} bytes`);
}

/** A text has more than `max` characters, said by the rules that count characters. */
export function tooLongText(path: FieldPath, max: number): FieldError {
  return make('FieldValueTooLong', path, `Too long: may not be more than ${max} characters`);
}

/** A list or map has more than `max` entries. */
export function tooMany(path: FieldPath, actual: number, max: number): FieldError {
  return make('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} items`);
}

/** A rule could not be checked because of a fault of our own. */
export function internal(path: FieldPath, detail: string): FieldError {
  return make('InternalError', path, withDetail('Internal error', detail));
}

/** The error moved to another path, for errors that were collected separately. */
export function relocated(error: FieldError, path: FieldPath): FieldError {
  return make(error.type, path, error.message);
}

function format(path: FieldPath, value: unknown): string {
  const isConverted = typeof value === 'object' || value === undefined;
  return formatGoValue(isConverted ? (collection?.shown?.(path, value) ?? value) : value);
}

function withDetail(head: string, detail: string): string {
  return detail === '' ? head : `${head}: ${detail}`;
}
