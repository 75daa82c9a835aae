import { ValueFormatError } from '../values/value-format-error.js';
import { type DecodeState, decoderOf, zeroMaker } from './compile.js';
import { DecodeError } from './decode-error.js';
import { rememberBody } from './given-body.js';
import { inspect } from './inspect.js';
import { Mismatch } from './mismatch.js';
import type { DecodeOptions, Infer, SchemaType } from './types.js';

export interface Decoded<T> {
  readonly value: T;
  /** Paths of unknown fields, in input order, up to a hundred: `spec.containers[0].foo`. */
  readonly unknownFields: readonly string[];
}

const none: readonly string[] = [];

/**
 * Converts a JSON value into a new canonical value of a type. Fields get the declared order (kind and apiVersion first,
 * map keys sorted); unknown fields are dropped and reported. Absent and null are treated alike, and zero values are
 * kept or dropped by each field's {@link Presence}. Quantities, times, durations and base64 get their canonical form.
 * The input is not changed; raw values (`rawExtension`, `fieldsV1`, `anyJson`) are shared with it, not copied.
 *
 * @throws {DecodeError} for a value that has the wrong type, is out of range or is nested too deeply.
 */
export function decode<S extends SchemaType>(
  type: S,
  input: unknown,
  { keepsNulls = false }: DecodeOptions = {},
): Decoded<Infer<S>> {
  const state: DecodeState = { hasUnknown: false, hasEmptyList: false, depth: 0, keepsNulls };
  let value: unknown;
  try {
    value = input === null || input === undefined ? zeroMaker(type)() : decoderOf(type)(input, state);
  } catch (error) {
    if (!(error instanceof Mismatch) && !(error instanceof ValueFormatError)) throw error;
    const { fault } = inspect(type, input);
    throw new DecodeError(fault?.path ?? '', fault?.detail ?? error.message);
  }
  if (state.hasEmptyList && typeof value === 'object' && value !== null) rememberBody(value, input);
  return {
    value: value as Infer<S>,
    unknownFields: state.hasUnknown ? inspect(type, input).unknownFields : none,
  };
}

/** The canonical form of an empty value of a type: an object with its always-present fields. */
export function zeroValue<S extends SchemaType>(type: S): Infer<S> {
  return zeroMaker(type)() as Infer<S>;
}
