import type { FieldError } from './field-error.js';
import { formatGoValue } from './go-format.js';
import { formatGroupKind, formatGroupResource, type GroupKind, type GroupResource } from './group-version.js';

/** One cause in a Status: a field and its problem, or a machine-readable sub-reason. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The body of every response that is not an object: errors, and deletes that removed the object. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** Reasons of failures and their HTTP codes. Order and spelling are part of the API. */
const statusReasons = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  ServerTimeout: 500,
  Timeout: 504,
} as const satisfies Record<string, number>;

export type StatusReason = keyof typeof statusReasons;

export interface StatusErrorOptions {
  readonly code?: number;
  readonly details?: StatusDetails | undefined;
  readonly cause?: unknown;
  readonly continueToken?: string;
  readonly isSelfDefence?: boolean;
  readonly isDenial?: boolean;
  readonly page?: string;
}

/**
 * An error with its own Status, which becomes the response. The exception filter turns all other errors into an
 * InternalError.
 */
export class StatusError extends Error {
  readonly reason: StatusReason | '';
  readonly code: number;
  readonly details: StatusDetails | undefined;
  readonly continueToken: string | undefined;
  /** The server refuses the request to protect itself, whatever the request asks for. */
  readonly isSelfDefence: boolean;
  /** The user has no right to the request, whatever it contains. */
  readonly isDenial: boolean;
  /** Text that is sent instead of the Status: paths outside the API have no kinds. */
  readonly page: string | undefined;

  constructor(reason: StatusReason | '', message: string, options: StatusErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StatusError';
    this.reason = reason;
    this.code = options.code ?? (reason === '' ? 500 : statusReasons[reason]);
    this.details = options.details;
    this.continueToken = options.continueToken;
    this.isSelfDefence = options.isSelfDefence === true;
    this.isDenial = options.isDenial === true;
    this.page = options.page;
  }

  /** A client error needs no stack in the log: the place where it was created adds nothing. */
  get isExpected(): boolean {
    return this.code < 500;
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** A name in quotes, with control characters as escapes. */
function quotedName(name: string): string {
  return /[^ -~]|["\\]/.test(name) ? formatGoValue(name) : `"${name}"`;
}

function resourceDetails(gr: GroupResource, name: string, extra: StatusDetails = {}): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(gr.group === '' ? {} : { group: gr.group }),
    ...(gr.resource === '' ? {} : { kind: gr.resource }),
    ...extra,
  };
}

export function notFoundError(gr: GroupResource, name: string): StatusError {
  const message = `${formatGroupResource(gr)} ${quotedName(name)} not found`;
  return new StatusError('NotFound', message, { details: resourceDetails(gr, name) });
}

export function alreadyExistsError(gr: GroupResource, name: string, prefix = ''): StatusError {
  const message = `${prefix}${formatGroupResource(gr)} ${quotedName(name)} already exists`;
  return new StatusError('AlreadyExists', message, { details: resourceDetails(gr, name) });
}

/** The name generator produced existing names too often; the client may retry. */
export function generateNameConflictError(gr: GroupResource, name: string): StatusError {
  const message = `${formatGroupResource(gr)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return new StatusError('AlreadyExists', message, { details: resourceDetails(gr, name, { retryAfterSeconds: 1 }) });
}

export function conflictError(gr: GroupResource, name: string, detail: string): StatusError {
  const message = `Operation cannot be fulfilled on ${formatGroupResource(gr)} ${quotedName(name)}: ${detail}`;
  return new StatusError('Conflict', message, { details: resourceDetails(gr, name) });
}

/** The message for a lost optimistic-concurrency race; clients match on it. */
export const modifiedMessage =
  'the object has been modified; please apply your changes to the latest version and try again';

export function forbiddenError(gr: GroupResource, name: string, detail: string, causes?: StatusCause[]): StatusError {
  const subject =
    gr.resource === '' ? '' : name === '' ? formatGroupResource(gr) : `${formatGroupResource(gr)} ${quotedName(name)}`;
  const message = subject === '' ? `forbidden: ${detail}` : `${subject} is forbidden: ${detail}`;
  return new StatusError('Forbidden', message, { details: resourceDetails(gr, name, causes ? { causes } : {}) });
}

/** A response must stay readable; without a limit it could be much larger than its object. */
const maxCauses = 1000;

/**
 * A 422 with one cause per violated rule, in the order of reporting; equal messages are shown once. Above a thousand
 * causes, the message only gives the number of the rest; with `hasMore`, only that there are more.
 */
export function invalidError(gk: GroupKind, name: string, errors: readonly FieldError[], hasMore = false): StatusError {
  const shown = withoutRepetitions(errors.slice(0, maxCauses));
  const texts = [...new Set(shown.map((e) => `${e.field}: ${e.message}`))];
  if (errors.length > maxCauses) texts.push(`and ${errors.length - maxCauses} more`);
  else if (hasMore) texts.push('and more');
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError('Invalid', `${formatGroupKind(gk)} ${quotedName(name)} is invalid: ${list}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(gk.group === '' ? {} : { group: gk.group }),
      ...(gk.kind === '' ? {} : { kind: gk.kind }),
      causes: shown.map((e) => ({ reason: e.type, message: e.message, field: e.field })),
    },
  });
}

/** Two checks may find the same problem; it is reported as one cause, unless its repetition is intended. */
function withoutRepetitions(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ type, field, message, isRepeated }) => {
    if (isRepeated === true) return true;
    const key = JSON.stringify([type, field, message]);
    return !seen.has(key) && seen.add(key);
  });
}

/**
 * An update lacks the version that it is based on, although its kind requires one. Clients know this message: it names
 * the resource, and shows the missing version as 0, as other servers do.
 */
export function missingVersionError({ group, resource }: GroupResource, name: string): StatusError {
  const message = 'Invalid value: 0: must be specified for an update';
  const fault = { type: 'FieldValueInvalid', field: 'metadata.resourceVersion', message } as const;
  return invalidError({ group, kind: resource }, name, [fault]);
}

export function badRequestError(message: string, cause?: unknown): StatusError {
  return new StatusError('BadRequest', message, { cause });
}

/**
 * The 500 without a reason that programs know as the answer to some mistakes of clients. A fault of the server has the
 * reason `InternalError`; this answer says all there is to say, so nobody needs to look into the log.
 */
export function unreasonedError(message: string): StatusError {
  return new StatusError('', message);
}

export function internalError(cause: unknown): StatusError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StatusError('InternalError', `Internal error occurred: ${detail}`, {
    details: { causes: [{ message: detail }] },
    cause,
  });
}

/** A 500 that is not a bug in the server: its message is complete, and needs no further investigation. */
export function statedError(detail: string): StatusError {
  return new StatusError('InternalError', `Internal error occurred: ${detail}`, {
    details: { causes: [{ message: detail }] },
  });
}

/** No route exists for the path, or its resource or version is not served. */
export function unknownPathError(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });
}

/** The 404 of a path outside the API, which is plain text. */
export function pageNotFoundError(page = '404 page not found\n'): StatusError {
  return new StatusError('NotFound', page.trimEnd(), { details: {}, page });
}

export function methodNotAllowedError(
  message = 'the server does not allow this method on the requested resource',
): StatusError {
  return new StatusError('MethodNotAllowed', message, { details: {} });
}

/** The 406 for a request that accepts only media types that are not served. */
export function noRepresentationError(available: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`;
  return new StatusError('NotAcceptable', message, { details: {} });
}

export function notAcceptableError(accepted?: readonly string[]): StatusError {
  if (accepted === undefined) return new StatusError('NotAcceptable', '406: Not Acceptable', { details: {} });
  return new StatusError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);
}

export function unsupportedMediaTypeError(accepted?: readonly string[]): StatusError {
  if (accepted === undefined) {
    return new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
  }
  const list = accepted.join(', ');
  const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
  return new StatusError('UnsupportedMediaType', message);
}

export function requestTooLargeError(limitBytes: number): StatusError {
  return new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);
}

/** 431: the request head is too long; the API defines no reason for this. */
export function headersTooLargeError(): StatusError {
  return new StatusError('', 'the header fields of the request are too large', { code: 431 });
}

/** 408: the request head took too long to arrive. */
export function requestHeadTimeoutError(): StatusError {
  return new StatusError('', 'the request did not arrive in time', { code: 408 });
}

export function unauthorizedError(): StatusError {
  return new StatusError('Unauthorized', 'Unauthorized');
}

export function tooManyRequestsError(retryAfterSeconds: number): StatusError {
  return new StatusError('TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds },
    isSelfDefence: true,
  });
}

/** 503: nothing was done. `retryAfterSeconds` is also sent as a header. */
export function serviceUnavailableError(message: string, retryAfterSeconds = 1, cause?: unknown): StatusError {
  return new StatusError('ServiceUnavailable', message, { details: { retryAfterSeconds }, cause });
}

/** 504: the outcome may be unknown. */
export function timeoutError(message: string, retryAfterSeconds = 0, cause?: unknown): StatusError {
  return new StatusError('Timeout', `Timeout: ${message}`, {
    details: retryAfterSeconds > 0 ? { retryAfterSeconds } : {},
    cause,
  });
}

/** 504 for a version that does not exist yet (specification 4.4). */
export function tooLargeResourceVersionError(asked: bigint, current: bigint): StatusError {
  return new StatusError('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

/** 410: the version is older than the history. */
export function expiredError(message: string, continueToken?: string): StatusError {
  return new StatusError('Expired', message, continueToken === undefined ? {} : { continueToken });
}
