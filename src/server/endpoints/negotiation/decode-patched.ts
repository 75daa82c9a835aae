import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';
import { DecodeError, type KindType, restoreDetail } from '../../../base/machinery/schema/index.js';
import { invalidError, StatusError } from '../../../base/machinery/status-error.js';
import { decodeValue, type FieldValidation, strictError } from './decode-body.js';
import { OtherVersionError } from './other-version-error.js';

/** The patch that produced an object to decode. */
export interface PatchOrigin {
  /** The value to show in the error message. */
  readonly shown: () => string;
  /** Faults of the patch itself, which are treated like unknown fields. */
  readonly faults: readonly string[];
  /** Whether the result was not a text in between, which messages about its values show. */
  readonly isStrategic?: boolean;
}

/** The beginning of error messages about bodies. The message about a patch shows the value instead. */
const bodyPrefix = /^\S+ in version "[^"]*" cannot be handled as a \S+: /;
const strictPrefix = strictError([]);
/** Maximum number of characters of a value in a message. */
const maxShown = 64 * 1024;

/**
 * Decodes the result of a patch, or of an apply if there is no origin. Throws a 422 for invalid results, since the
 * patch is at fault.
 */
export function decodePatched(
  context: RequestContext,
  type: KindType,
  expected: GroupVersionKind,
  patched: unknown,
  fieldValidation: FieldValidation,
  origin?: PatchOrigin,
): ApiObject {
  const refuse = (detail: string, cause?: unknown) =>
    Object.assign(
      origin === undefined ? refusedApply(expected, patched, detail) : refusedPatch(origin, fieldValidation, detail),
      { cause },
    );
  if (patched === null || typeof patched !== 'object' || Array.isArray(patched)) {
    throw refuse('the patch does not leave an object');
  }
  const faults = origin?.faults ?? [];
  if (fieldValidation === 'Warn') for (const fault of faults) addWarning(context, fault);
  let object: ApiObject;
  try {
    const source = { isApplied: origin === undefined };
    object = decodeInVersion(patched, expected, (value) =>
      decodeValue(context, { type, kind: expected }, value, fieldValidation, source),
    );
  } catch (error) {
    if (error instanceof OtherVersionError && type.custom !== undefined && origin !== undefined) {
      throw otherVersion(expected, patched as Patched);
    }
    if (error instanceof StatusError && error.code === 400) {
      const isRestored = origin?.isStrategic === true && error.cause instanceof DecodeError;
      throw refuse(isRestored ? restoreDetail(type, error.cause as DecodeError) : error.message, error);
    }
    throw error;
  }
  if (fieldValidation === 'Strict' && faults.length > 0) throw refuse(strictPrefix);
  return object;
}

/** A patch may name another version of the kind: the object is then written in the expected one. */
function decodeInVersion(patched: object, expected: GroupVersionKind, decode: (value: object) => ApiObject): ApiObject {
  try {
    return decode(patched);
  } catch (error) {
    if (!(error instanceof OtherVersionError) || !error.isKnown) throw error;
    return decode({ ...patched, apiVersion: formatApiVersion(expected) });
  }
}

interface Patched {
  readonly apiVersion?: unknown;
  readonly metadata?: { readonly name?: unknown } | null;
}

/** The 422 for a patch that leaves a custom object in another version. */
function otherVersion(expected: GroupVersionKind, { apiVersion, metadata }: Patched): StatusError {
  const error = invalid(FieldPath.of('apiVersion'), apiVersion, `must be ${formatApiVersion(expected)}`);
  return invalidError(expected, typeof metadata?.name === 'string' ? metadata.name : '', [error]);
}

function refusedApply(expected: GroupVersionKind, patched: unknown, detail: string): StatusError {
  const name = (patched as { metadata?: { name?: unknown } } | null)?.metadata?.name;
  const error = { type: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${detail}` } as const;
  return invalidError(expected, typeof name === 'string' ? name : '', [error]);
}

/** The 422 in the form that clients know: it names no object, and shows the value that could not be decoded. */
function refusedPatch({ shown, faults }: PatchOrigin, fieldValidation: FieldValidation, detail: string): StatusError {
  let reason = detail.replace(bodyPrefix, '');
  if (fieldValidation === 'Strict' && faults.length > 0 && reason.startsWith(strictPrefix)) {
    const others = reason.slice(strictPrefix.length);
    reason = strictError(others === '' ? faults : [...faults, others]);
  }
  const value = JSON.stringify(shown().slice(0, maxShown));
  const error = { type: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${value}: ${reason}` } as const;
  return invalidError({ group: '', kind: '' }, '', [error]);
}
