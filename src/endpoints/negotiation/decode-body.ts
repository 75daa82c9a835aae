import { parseDocument } from 'yaml';
import type { ApiObject } from '../../machinery/api-object.js';
import { formatApiVersion, type GroupVersionKind } from '../../machinery/group-version.js';
import { addWarning, type RequestContext } from '../../machinery/request-context.js';
import { DecodeError, decode, findDuplicateKeys, type KindType } from '../../machinery/schema/index.js';
import { badRequestError, unsupportedMediaTypeError } from '../../machinery/status-error.js';

/** How unknown and duplicate fields of a body are treated (specification 4.2, `fieldValidation`). */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export type BodyFormat = 'json' | 'yaml';

const maxYamlAliases = 100;
const shownBytes = 30;

/** Format of a body from its Content-Type; a missing header means JSON. 415 for what can't be read. */
export function bodyFormat(contentType: string | undefined, accepted: readonly string[]): BodyFormat {
  if (contentType === undefined || contentType === '') return 'json';
  const semicolon = contentType.indexOf(';');
  const mediaType = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (mediaType === 'application/json') return 'json';
  if (mediaType === 'application/yaml') return 'yaml';
  throw unsupportedMediaTypeError(accepted);
}

/** Parses a body to plain values; throws a SyntaxError whose message suits a client. */
export function parseBody(body: Buffer, format: BodyFormat): unknown {
  const text = decodeUtf8(body);
  if (format === 'yaml') return parseYaml(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SyntaxError(`json parse error: ${jsonErrorText(cause)}`, { cause });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new SyntaxError('the body is not valid UTF-8', { cause });
  }
}

function jsonErrorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // V8 quotes parts of the body in its messages; only the kind of fault is passed on.
  if (message.startsWith('Unexpected end of JSON input')) return 'unexpected end of JSON input';
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? 'invalid JSON' : `invalid character at position ${position}`;
}

function parseYaml(text: string): unknown {
  const document = parseDocument(text, { strict: true, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const fault = document.errors[0];
  if (fault !== undefined) throw new SyntaxError(`yaml: ${fault.message}`);
  try {
    return document.toJS({ maxAliasCount: maxYamlAliases });
  } catch (cause) {
    throw new SyntaxError(`yaml: ${cause instanceof Error ? cause.message : 'invalid document'}`, { cause });
  }
}

/** The start of a body for an error message: text for what looks like JSON, else hexadecimal. */
export function summarize(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const isCut = body.length > shownBytes;
  const head = body.subarray(0, shownBytes);
  return (body[0] === 0x7b ? head.toString('utf8') : head.toString('hex')) + (isCut ? ' ...' : '');
}

/**
 * Decodes a request body into a canonical object of `type`. A body may leave out kind and apiVersion; other ones than
 * expected are a 400, as are wrong types (with the field's path). Unknown fields are dropped and, by
 * `fieldValidation`, ignored, warned about, or refused.
 */
export function decodeBody(
  context: RequestContext,
  type: KindType,
  expected: GroupVersionKind,
  body: Buffer,
  format: BodyFormat,
  fieldValidation: FieldValidation,
): ApiObject {
  let input: unknown;
  try {
    input = parseBody(body, format);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(expected.kind, `couldn't get version/kind; ${error.message}`, body, error);
  }
  if (input !== null && (typeof input !== 'object' || Array.isArray(input))) {
    const found = Array.isArray(input) ? 'array' : typeof input;
    throw unrecognized(expected.kind, `couldn't get version/kind; json parse error: the body is an ${found}, not an object`, body);
  }
  const duplicates = fieldValidation === 'Ignore' || format === 'yaml' ? [] : findDuplicateKeys(body.toString('utf8'));
  return decodeValue(context, type, expected, input ?? {}, fieldValidation, duplicates);
}

/** The same for a value that is parsed already (patch results). */
export function decodeValue(
  context: RequestContext,
  type: KindType,
  expected: GroupVersionKind,
  input: unknown,
  fieldValidation: FieldValidation,
  duplicates: readonly string[] = [],
): ApiObject {
  const { kind, apiVersion } = input as { kind?: unknown; apiVersion?: unknown };
  const expectedVersion = formatApiVersion(expected);
  const actualKind = typeof kind === 'string' && kind !== '' ? kind : expected.kind;
  const actualVersion = typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : expectedVersion;
  const refuse = (detail: string, cause?: unknown) =>
    badRequestError(
      `${actualKind} in version ${JSON.stringify(shortVersion(actualVersion))} cannot be handled as a ${expected.kind}: ${detail}`,
      cause,
    );
  if (actualKind !== expected.kind) throw refuse(`the request is about kind ${expected.kind}`);
  if (actualVersion !== expectedVersion) {
    throw refuse(`the request is about apiVersion ${JSON.stringify(expectedVersion)}, not ${JSON.stringify(actualVersion)}`);
  }

  let decoded: { value: unknown; unknownFields: readonly string[] };
  try {
    decoded = decode(type, input);
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message, error);
    throw error;
  }
  reportStrictErrors(context, decoded.unknownFields, duplicates, fieldValidation);
  const object = decoded.value as ApiObject;
  object.kind = expected.kind;
  object.apiVersion = expectedVersion;
  return object;
}

function shortVersion(apiVersion: string): string {
  return apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
}

function reportStrictErrors(
  context: RequestContext,
  unknown: readonly string[],
  duplicates: readonly string[],
  fieldValidation: FieldValidation,
): void {
  if (fieldValidation === 'Ignore' || (unknown.length === 0 && duplicates.length === 0)) return;
  const texts = [
    ...duplicates.map((field) => `duplicate field "${field}"`),
    ...unknown.map((field) => `unknown field "${field}"`),
  ];
  if (fieldValidation === 'Strict') throw badRequestError(`strict decoding error: ${texts.join(', ')}`);
  for (const text of texts) addWarning(context, text);
}

function unrecognized(kind: string, detail: string, body: Buffer, cause?: unknown): Error {
  const message = `the object provided is unrecognized (must be of type ${kind}): ${detail} (${summarize(body)})`;
  return badRequestError(message, cause);
}
