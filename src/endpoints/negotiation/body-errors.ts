import { formatApiVersion, type GroupVersionKind } from '../../machinery/group-version.js';
import { badRequestError, StatusError } from '../../machinery/status-error.js';

const shownBytes = 30;

/** The start of a body for an error message: text if it looks like JSON, otherwise hexadecimal. */
function summarize(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const isCut = body.length > shownBytes;
  const head = body.subarray(0, shownBytes);
  return (body[0] === 0x7b ? head.toString('utf8') : head.toString('hex')) + (isCut ? ' ...' : '');
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

/** The 400 for an object that the request can't take. */
export function unfitBodyError(
  identity: BodyIdentity,
  expected: GroupVersionKind,
  detail: string,
  cause?: unknown,
): StatusError {
  return badRequestError(unfitMessage(identity, expected, detail), cause);
}

/** The 400 for a body of the right kind in another version. */
export class OtherVersionError extends StatusError {
  constructor(message: string) {
    super('BadRequest', message);
  }
}

function unfitMessage(identity: BodyIdentity, expected: GroupVersionKind, detail: string): string {
  const kind = identity.kind === '' ? expected.kind : identity.kind;
  const apiVersion = identity.apiVersion === '' ? expected.version : identity.apiVersion;
  const version = JSON.stringify(apiVersion.slice(apiVersion.lastIndexOf('/') + 1));
  return `${kind} in version ${version} cannot be handled as a ${expected.kind}: ${detail}`;
}

/** Throws a 400 for a body of another kind or version than expected; both may be missing. */
export function checkIdentity(identity: BodyIdentity, expected: GroupVersionKind): void {
  if (identity.kind !== '' && identity.kind !== expected.kind) {
    throw unfitBodyError(identity, expected, `the request is about kind ${expected.kind}`);
  }
  const expectedVersion = formatApiVersion(expected);
  if (identity.apiVersion !== '' && identity.apiVersion !== expectedVersion) {
    const versions = `${JSON.stringify(expectedVersion)}, not ${JSON.stringify(identity.apiVersion)}`;
    throw new OtherVersionError(unfitMessage(identity, expected, `the request is about apiVersion ${versions}`));
  }
}
