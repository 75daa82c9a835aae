import type { ApiObject } from '../../../base/machinery/api-object.js';
import { decodeCbor } from '../../../base/machinery/cbor/index.js';
import { formatGoValue } from '../../../base/machinery/go-format.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { parseExactJson } from '../../../base/machinery/json/exact-numbers.js';
import { mergedJson } from '../../../base/machinery/json/merged-json.js';
import { NestingError } from '../../../base/machinery/json/nesting-error.js';
import { countKeys, surveyJson } from '../../../base/machinery/json/survey.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';
import {
  DecodeError,
  decode,
  faultsInOrder,
  findDuplicateKeys,
  type KindType,
  unmarshalDetail,
} from '../../../base/machinery/schema/index.js';
import { badRequestError, invalidError, unsupportedMediaTypeError } from '../../../base/machinery/status-error.js';
import { oversizedMetadata } from '../../../objects/registry/metadata/validate-metadata.js';
import type { BodyKind } from '../../../objects/registry/subresource-definition.js';
import type { AcceptNegotiator } from './accept.js';
import {
  type BodyIdentity,
  checkCustomIdentity,
  checkIdentity,
  MissingKindError,
  unfitBodyError,
  unfitJson,
  unrecognizedError,
} from './body-errors.js';
import { decodeUtf8, duplicateKeysOf, faultOfBody } from './body-text.js';
import { addDuplicates, type DuplicateFields, noDuplicates } from './duplicates.js';
import { OtherVersionError } from './other-version-error.js';
import { parseYaml } from './parse-yaml.js';
import { decodeProtobufObject } from './protobuf-request.js';

/** The treatment of unknown and duplicate fields in a body (specification 4.2, `fieldValidation`). */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** The upstream type that every body is first decoded into. */
export const identityType =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Formats that can be parsed without knowing the kind. */
export type PlainFormat = 'json' | 'yaml' | 'cbor';

export type BodyFormat = PlainFormat | 'protobuf';

/**
 * The format of a body by its Content-Type; JSON if the header is missing. Throws a 415 for an unsupported type.
 *
 * @param hasProtobuf false for objects of custom kinds
 */
export function bodyFormat(contentType: string | undefined, accept: AcceptNegotiator, hasProtobuf = true): BodyFormat {
  if (contentType === undefined || contentType === '') return 'json';
  const semicolon = contentType.indexOf(';');
  const mediaType = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  const format = accept.bodyFormat(mediaType, hasProtobuf);
  if (format === undefined) throw unsupportedMediaTypeError(accept.mediaTypes());
  return format;
}

/**
 * Parses a body into plain values; throws a SyntaxError whose message can be shown to clients.
 *
 * @param duplicates receives the duplicate keys, except for CBOR, where they are a fault
 * @param merges whether values under equal keys of JSON are merged; default: the last one counts
 */
export function parseBody(body: Buffer, format: PlainFormat, duplicates?: DuplicateFields, merges = false): unknown {
  if (format === 'cbor') return decodeCbor(body);
  const fault = faultOfBody(body);
  if (fault !== undefined) throw fault;
  const text = decodeUtf8(body);
  const before = duplicateKeysOf(body);
  if (duplicates !== undefined && before !== undefined) addDuplicates(duplicates, before);
  if (format === 'yaml') return parseYaml(text, duplicates);
  try {
    const { keys, mayHaveExactNumbers } = surveyJson(body);
    const plain = JSON.parse(text) as unknown;
    const value = mayHaveExactNumbers ? parseExactJson(text, plain) : plain;
    // The parser keeps only the last of equal keys, so the counts differ if there are duplicates.
    if ((duplicates === undefined && !merges) || countKeys(value) === keys) return value;
    duplicates?.paths.push(...findDuplicateKeys(text));
    return merges ? mergedJson(text) : value;
  } catch (cause) {
    throw new SyntaxError(`json parse error: ${jsonErrorText(cause, text)}`, { cause });
  }
}

/** Where a wrong character was found, by the beginning of the engine's message. */
const jsonFaults: readonly (readonly [message: string, place: string])[] = [
  ['Unexpected non-whitespace character after JSON', 'after top-level value'],
  ['Expected property name', 'looking for beginning of object key string'],
  ['Expected double-quoted property name', 'looking for beginning of object key string'],
  ["Expected ',' or '}' after property value", 'after object key:value pair'],
  ["Expected ':' after property name", 'after object key'],
  ["Expected ',' or ']' after array element", 'after array element'],
  ['Bad control character in string literal', 'in string literal'],
  ['Bad escaped character', 'in string escape code'],
  ['Unexpected token', 'looking for beginning of value'],
];

/** What is wrong with a JSON text, in the words that programs know, by the engine's error. Quotes one character at most. */
export function jsonErrorText(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NestingError) return message;
  // V8 quotes parts of the body in its messages, so pass on only the kind of fault and one character.
  const position = /at position (\d+)/.exec(message)?.[1];
  const endsEarly = message.startsWith('Unexpected end of JSON input') || Number(position) >= text.length;
  if (endsEarly) return 'unexpected end of JSON input';
  // The message about a short body names the character in place of its position.
  const token = /^Unexpected token '(.+?)', /u.exec(message)?.[1];
  const character = token ?? String.fromCodePoint(text.codePointAt(Number(position)) ?? 0);
  if (position === undefined && token === undefined) return 'invalid JSON';
  const place = jsonFaults.find(([start]) => message.startsWith(start))?.[1] ?? `at position ${position}`;
  return `invalid character ${quotedCharacter(character)} ${place}`;
}

function quotedCharacter(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? `'"'` : `'${formatGoValue(character).slice(1, -1)}'`;
}

/**
 * Decodes a request body into a canonical object of `type`. Kind and apiVersion may be missing. Throws a 400 for
 * unexpected ones, and for wrong types (with the field's path). Unknown fields are dropped and, depending on
 * `fieldValidation`, ignored, reported as warnings or refused.
 */
export function decodeBody(
  context: RequestContext,
  type: KindType,
  expected: GroupVersionKind,
  body: Buffer,
  format: BodyFormat,
  fieldValidation: FieldValidation,
): ApiObject {
  // Unknown fields of a protobuf message have no names to report.
  if (format === 'protobuf') return decodeProtobufObject(type, expected, body);
  const duplicates = fieldValidation === 'Ignore' ? undefined : noDuplicates();
  let input: unknown;
  try {
    // Custom objects are not decoded into structures: of their equal keys the last one counts.
    input = parseBody(body, format, duplicates, type.custom === undefined);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const place = format === 'yaml' ? '' : "couldn't get version/kind; ";
    throw unrecognizedError(expected.kind, `${place}${error.message}`, body, error);
  }
  if (input !== null && (typeof input !== 'object' || Array.isArray(input))) {
    const found = Array.isArray(input) ? 'an array' : `a ${typeof input}`;
    const fault =
      format === 'cbor'
        ? `cbor: the body is ${found}, not an object`
        : `json parse error: ${unfitJson(input, identityType)}`;
    throw unrecognizedError(expected.kind, `couldn't get version/kind; ${fault}`, body);
  }
  const unfit = unfitIdentity(input);
  if (unfit !== undefined && type.custom === undefined) {
    throw unrecognizedError(expected.kind, `couldn't get version/kind; json parse error: ${unfit}`, body);
  }
  const text = format === 'json' ? body : undefined;
  try {
    return decodeValue(context, { type, kind: expected }, input ?? {}, fieldValidation, { duplicates, json: text });
  } catch (error) {
    throw error instanceof MissingKindError && text !== undefined ? error.of(expected.kind, text) : error;
  }
}

/** What is wrong with a kind or apiVersion that is no text, whichever comes first. */
function unfitIdentity(input: unknown): string | undefined {
  for (const [name, value] of Object.entries(input ?? {})) {
    if ((name !== 'kind' && name !== 'apiVersion') || value === null || typeof value === 'string') continue;
    return unfitJson(value, 'string').replace('Go value', `Go struct field .${name}`);
  }
  return undefined;
}

/**
 * {@link decodeBody} for a path that accepts several versions of a kind. The body is decoded in the version that it
 * names, or in the first one.
 */
export function decodeBodyOfAny(
  context: RequestContext,
  kinds: readonly [BodyKind, ...BodyKind[]],
  body: Buffer,
  format: BodyFormat,
  fieldValidation: FieldValidation,
): ApiObject {
  let refusal: unknown;
  for (const { type, kind } of kinds) {
    try {
      return decodeBody(context, type, kind, body, format, fieldValidation);
    } catch (error) {
      if (!(error instanceof OtherVersionError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * Parses the body of a patch. Fields that it has twice are its faults, unless `fieldValidation` ignores them. Throws a
 * SyntaxError for invalid JSON.
 */
export function parsePatchBody(body: Buffer, fieldValidation: FieldValidation): ParsedPatch {
  const duplicates = fieldValidation === 'Ignore' ? undefined : noDuplicates();
  const patch = parseBody(body, 'json', duplicates);
  return { patch, faults: faultTexts([], duplicates ?? noDuplicates()) };
}

/** A patch, and the fields that its text has twice. */
export interface ParsedPatch {
  readonly patch: unknown;
  readonly faults: readonly string[];
}

/**
 * Like {@link parsePatchBody}, for an applied configuration, which is refused with a 400. Throws a SyntaxError for
 * invalid YAML or CBOR.
 */
export function parseApplyBody(
  context: RequestContext,
  body: Buffer,
  format: 'yaml' | 'cbor',
  fieldValidation: FieldValidation,
): unknown {
  const duplicates = fieldValidation === 'Ignore' ? undefined : noDuplicates();
  const config = parseBody(body, format, duplicates);
  const { paths, lines } = duplicates ?? noDuplicates();
  if (fieldValidation === 'Strict') {
    if (lines.length > 0) {
      throw badRequestError(`error strict decoding patch: error converting YAML to JSON: ${unmarshalErrors(lines)}`);
    }
    if (paths.length > 0) throw badRequestError(`error strict decoding patch: ${duplicateTexts(paths).join(', ')}`);
  }
  for (const text of faultTexts([], { paths, lines })) addWarning(context, text);
  return config;
}

/** Where a value that is decoded comes from. */
export interface ValueSource {
  readonly duplicates?: DuplicateFields | undefined;
  /** The text by whose order the faults are sorted. */
  readonly json?: Buffer | undefined;
  /** Whether it is the merged intent of an applier, in which null is a value of a custom kind as any other. */
  readonly isApplied?: boolean;
}

/** {@link decodeBody} for an already parsed value. */
export function decodeValue(
  context: RequestContext,
  { type, kind: expected }: BodyKind,
  input: unknown,
  fieldValidation: FieldValidation,
  { duplicates = noDuplicates(), json, isApplied = false }: ValueSource = {},
): ApiObject {
  const { kind, apiVersion } = input as { kind?: unknown; apiVersion?: unknown };
  const identity = {
    kind: typeof kind === 'string' ? kind : '',
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
  };
  const { metadata } = input as { metadata?: { name?: unknown } | null };
  // For custom kinds, unknown fields are reported even if the version is another one.
  const otherVersion = type.custom === undefined ? undefined : otherVersionOf(identity, expected, metadata?.name);
  if (type.custom === undefined) checkIdentity(identity, expected);
  const oversized = oversizedMetadata(metadata);
  if (oversized.length > 0) {
    throw invalidError(expected, typeof metadata?.name === 'string' ? metadata.name : '', oversized);
  }

  let decoded: { value: unknown; unknownFields: readonly string[] };
  try {
    decoded = decode(type, input, { keepsNulls: isApplied });
  } catch (error) {
    if (error instanceof DecodeError) throw unfitBodyError(identity, expected, unmarshalDetail(type, error), error);
    throw error;
  }
  if (fieldValidation !== 'Ignore') {
    // For a custom kind, duplicate keys are reported before unknown fields, which are found only after parsing.
    const text = type.custom === undefined ? json : undefined;
    const unknown = otherVersion === undefined ? decoded.unknownFields : unknownElsewhere(input, decoded.unknownFields);
    // YAML and patches reach a decoder of the release as JSON with sorted keys.
    const isSorted = type.custom === undefined && json === undefined;
    const texts = faultTexts(isSorted ? unknown.toSorted(byKeys) : unknown, duplicates, text);
    if (fieldValidation === 'Strict') refuseFaults(identity, expected, texts, duplicates.lines);
    for (const fault of texts) addWarning(context, fault);
  }
  if (otherVersion !== undefined) throw otherVersion;
  const object = decoded.value as ApiObject;
  object.kind = expected.kind;
  object.apiVersion = formatApiVersion(expected);
  return object;
}

const envelope: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);

/**
 * The unknown fields of a body in another version, for which there is no schema here: all fields except metadata are
 * unknown.
 */
function unknownElsewhere(input: unknown, unknownFields: readonly string[]): readonly string[] {
  const own = Object.keys(input as object).filter((name) => !envelope.has(name));
  return [...unknownFields.filter((field) => field.startsWith('metadata.')), ...own].sort();
}

/** Returns the error about a version that is not the expected one; throws any other error. */
function otherVersionOf(
  identity: BodyIdentity,
  expected: GroupVersionKind,
  name: unknown,
): OtherVersionError | undefined {
  try {
    checkCustomIdentity(identity, expected, name);
  } catch (error) {
    if (error instanceof OtherVersionError && identity.apiVersion !== '') return error;
    throw error;
  }
  return undefined;
}

/**
 * The faults of the fields of a body, each as a warning.
 *
 * @param json the body, whose order of fields determines the order of the warnings
 */
function faultTexts(unknown: readonly string[], { paths, lines }: DuplicateFields, json?: Buffer): string[] {
  if (json !== undefined && unknown.length > 0 && paths.length > 0) {
    return faultsInOrder(decodeUtf8(json), unknown, paths).map(({ path, fault }) => `${fault} field "${path}"`);
  }
  return [...lines, ...duplicateTexts(paths), ...unknown.map((field) => `unknown field "${field}"`)];
}

/** Compares the paths of two fields by their keys and indexes, from the outermost on. */
function byKeys(a: string, b: string): number {
  const [ours, theirs] = [a, b].map((path) => path.split(/\.|(?=\[)/)) as [string[], string[]];
  const at = ours.findIndex((part, i) => part !== theirs[i]);
  if (at < 0) return ours.length - theirs.length;
  const [own = '', other = ''] = [ours[at], theirs[at]];
  const [index, otherIndex] = [own, other].map((part) => Number(/^\[(\d+)\]$/.exec(part)?.[1])) as [number, number];
  if (index !== otherIndex && !Number.isNaN(index) && !Number.isNaN(otherIndex)) return index - otherIndex;
  return own < other ? -1 : 1;
}

function duplicateTexts(paths: readonly string[]): string[] {
  return paths.map((path) => `duplicate field "${path}"`);
}

function refuseFaults(
  identity: BodyIdentity,
  expected: GroupVersionKind,
  texts: readonly string[],
  lines: readonly string[],
): void {
  if (texts.length === 0) return;
  const others = texts.slice(lines.length);
  const detail = strictError(lines.length === 0 ? others : [unmarshalErrors(lines), ...others]);
  throw unfitBodyError(identity, expected, detail);
}

export function strictError(texts: readonly string[]): string {
  return `strict decoding error: ${texts.join(', ')}`;
}

/** Joins the lines as YAML parsers of other servers do. */
function unmarshalErrors(lines: readonly string[]): string {
  return `yaml: unmarshal errors:\n  ${lines.join('\n  ')}`;
}
