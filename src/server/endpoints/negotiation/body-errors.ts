import { FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { badRequestError, invalidError, StatusError } from '../../../base/machinery/status-error.js';
import { isKnownElsewhere } from './known-versions.js';
import { OtherVersionError } from './other-version-error.js';

const shownBytes = 30;
/** As many bytes of a body are in a message. */
const mostEchoed = 4096;

/** The beginning of a body for an error message: text if it looks like JSON, otherwise hexadecimal. */
function summarize(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const isCut = body.length > shownBytes;
  const head = body.subarray(0, shownBytes);
  return (body[0] === 0x7b ? head.toString('utf8') : head.toString('hex')) + (isCut ? ' ...' : '');
}

/** The upstream message for JSON of another type than `wanted`, the upstream name of the expected type. */
export function unfitJson(value: unknown, wanted: string): string {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${value === null ? 'null' : found} into Go value of type ${wanted}`;
}

/** The 400 for a body that is not an API object. */
export function unrecognizedError(kind: string, detail: string, body: Buffer, cause?: unknown): StatusError {
  const message = `the object provided is unrecognized (must be of type ${kind}): ${detail} (${summarize(body)})`;
  return badRequestError(message, cause);
}

/** Kind and apiVersion of a body; empty when missing. */
export interface BodyIdentity {
  readonly kind: string;
  readonly apiVersion: string;
}

/** The 400 for a body that can't be used for the request. */
export function unfitBodyError(
  identity: BodyIdentity,
  expected: GroupVersionKind,
  detail: string,
  cause?: unknown,
): StatusError {
  return badRequestError(unfitMessage(identity, expected, detail), cause);
}

/** The 400 for a body of another kind than the request is about. */
export class OtherKindError extends StatusError {
  constructor(
    readonly identity: BodyIdentity,
    private readonly expected: GroupVersionKind,
  ) {
    super('BadRequest', unfitMessage(identity, expected, otherKind(identity, expected)));
  }

  /** The same for a kind that its version does not have. */
  asUnknown(): StatusError {
    const { kind, apiVersion } = this.identity;
    const detail = unknownKind(kind, apiVersion || formatApiVersion(this.expected));
    return unfitBodyError(this.identity, this.expected, detail);
  }
}

function unfitMessage(identity: BodyIdentity, expected: GroupVersionKind, detail: string): string {
  const kind = identity.kind === '' ? expected.kind : identity.kind;
  const apiVersion = identity.apiVersion === '' ? expected.version : identity.apiVersion;
  const version = JSON.stringify(apiVersion.slice(apiVersion.lastIndexOf('/') + 1));
  return `${kind} in version ${version} cannot be handled as a ${expected.kind}: ${detail}`;
}

function mismatchText(found: string, expected: string): string {
  return `the API version in the data (${found}) does not match the expected API version (${expected})`;
}

/** The upstream message for a kind that does not exist in the given version. */
export function unknownKind(kind: string, apiVersion: string): string {
  const names = [kind, apiVersion].map((name) => JSON.stringify(name));
  return `no kind ${names[0]} is registered for version ${names[1]} in scheme "pkg/runtime/scheme.go:111"`;
}

/** The upstream message for another kind of the same version, with upstream type names such as `v1.Secret`. */
function otherKind(identity: BodyIdentity, expected: GroupVersionKind): string {
  const group = expected.group === '' ? 'core' : (expected.group.split('.')[0] as string);
  return `converting (${expected.version}.${identity.kind}) to (${group}.${expected.kind}): unknown conversion`;
}

/** The 400 for a body of a custom kind that does not name it. */
export class MissingKindError extends StatusError {
  constructor() {
    super('BadRequest', "Object 'Kind' is missing in the body");
  }

  /** The same with the body, as far as it is short. */
  of(kind: string, body: Buffer): StatusError {
    const isCut = body.length > mostEchoed;
    const text = body.toString('utf8', 0, mostEchoed) + (isCut ? '...' : '');
    return unrecognizedError(kind, `Object 'Kind' is missing in '${text}'`, body);
  }
}

/** Throws a 400 for a body of another kind or version than expected; both may be missing. */
export function checkIdentity(identity: BodyIdentity, expected: GroupVersionKind): void {
  if (identity.kind !== '' && identity.kind !== expected.kind) {
    throw new OtherKindError(identity, expected);
  }
  const expectedVersion = formatApiVersion(expected);
  if (identity.apiVersion !== '' && identity.apiVersion !== expectedVersion) {
    if (isKnownElsewhere(identity.apiVersion, expected)) {
      throw new OtherVersionError(mismatchText(identity.apiVersion, expectedVersion), true);
    }
    const detail = unknownKind(expected.kind, identity.apiVersion);
    throw new OtherVersionError(unfitMessage(identity, expected, detail));
  }
}

/**
 * Like {@link checkIdentity}, for custom kinds, with the messages that clients expect: throws a 400 if kind or
 * apiVersion is missing or the version is another one, and a 422 for another kind.
 */
export function checkCustomIdentity(identity: BodyIdentity, expected: GroupVersionKind, name: unknown): void {
  if (identity.kind === '') throw new MissingKindError();
  const expectedVersion = formatApiVersion(expected);
  if (identity.apiVersion !== expectedVersion) {
    throw new OtherVersionError(mismatchText(identity.apiVersion, expectedVersion));
  }
  if (identity.kind === expected.kind) return;
  const other = invalid(FieldPath.of('kind'), identity.kind, `must be ${expected.kind}`);
  throw invalidError({ group: expected.group, kind: identity.kind }, typeof name === 'string' ? name : '', [other]);
}
