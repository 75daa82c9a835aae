import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { parseJson } from '../../../base/machinery/json/exact-numbers.js';
import { BackupFileError } from './backup-file-error.js';
import {
  type BackupEnd,
  type BackupHeader,
  type BackupSection,
  formatVersion,
  mostObjectBytes,
  type NotTaken,
} from './lines.js';
import { printable } from './printable.js';
import { isSealing } from './seal.js';

type Fields = Record<string, unknown>;

const bracket = 0x5b;

/** Whether a line is a list that describes the backup, and not an object of the cluster. */
export function isControlLine(line: Buffer): boolean {
  return line[0] === bracket;
}

/** The members of a line that is not an object. */
export function readControlLine(line: Buffer): readonly unknown[] {
  const value = parse(line);
  if (!Array.isArray(value)) throw damaged('a line is neither a list nor an object');
  return value;
}

/** The header in the first line. */
export function readHeader(line: Buffer): BackupHeader {
  if (!isControlLine(line)) throw new BackupFileError('is not a backup: it does not begin as one');
  const [purpose, version, fields] = readControlLine(line);
  if (purpose !== 'plinth-backup') throw new BackupFileError('is not a backup: it does not begin as one');
  if (version !== formatVersion) {
    throw new BackupFileError(
      `has format ${JSON.stringify(version)}; this version of Plinth reads format ${formatVersion}`,
    );
  }
  const { createdAt, program, serverVersion, resourceVersion, namespaces, sealing } = isFields(fields) ? fields : {};
  if (![createdAt, program, serverVersion, resourceVersion].every(isText) || !isTexts(namespaces)) {
    throw damaged('its header lacks a field');
  }
  if (sealing !== undefined && !isSealing(sealing)) {
    throw new BackupFileError('is sealed in a way, or at a cost, that this version of Plinth does not accept');
  }
  return fields as BackupHeader;
}

const apiVersionForm = /^([a-z0-9][a-z0-9.-]{0,252}\/)?[a-z0-9][a-z0-9-]{0,62}$/;
const mostOwnerText = 512;
const wordForm = /^[A-Za-z0-9][A-Za-z0-9-]{0,252}$/;

/** A section as its line describes it. */
export function readSection(fields: unknown): BackupSection {
  const { apiVersion, kind, resource, namespaced, hasStatus, sealed } = isFields(fields) ? fields : {};
  const isWhole =
    isText(apiVersion) &&
    apiVersionForm.test(apiVersion) &&
    [kind, resource].every((word) => isText(word) && wordForm.test(word)) &&
    [namespaced, hasStatus, sealed].every((value) => typeof value === 'boolean');
  if (!isWhole) throw damaged('a section lacks a field, or has one of another form');
  return fields as BackupSection;
}

/** The end as its line describes it. */
export function readEnd(line: Buffer): BackupEnd {
  const [purpose, fields] = isControlLine(line) ? readControlLine(line) : [];
  const { counts, notTaken, sha256, mac } = isFields(fields) ? fields : {};
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const isWhole =
    purpose === 'end' &&
    Array.isArray(counts) &&
    counts.every(isCount) &&
    Array.isArray(notTaken) &&
    notTaken.every(isNotTaken) &&
    isText(sha256) &&
    (mac === undefined || isText(mac));
  if (!isWhole) throw new BackupFileError('is cut off or damaged: it has no end');
  return fields as unknown as BackupEnd;
}

/** An object of a section. @throws BackupFileError for anything that can't be an object of that kind */
export function readObject(line: Buffer, section: BackupSection): ApiObject {
  if (line.length > mostObjectBytes) throw damaged('an object is longer than any object can be');
  const value = parse(line);
  if (!isFields(value) || !isFields(value.metadata)) throw damaged('a line is not an object of the API');
  const { apiVersion, kind, metadata } = value;
  const { name, namespace } = metadata;
  const wrong = (what: string) => damaged(`${what} in an object of ${section.resource}: ${shown(name)}`);
  if (apiVersion !== section.apiVersion || kind !== section.kind)
    throw wrong('another kind than that of its section is');
  if (!isPathSegment(name)) throw wrong('there is an impossible name');
  if (section.namespaced ? !isPathSegment(namespace) : namespace !== undefined) {
    throw wrong('there is an impossible namespace');
  }
  for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const) {
    const content = metadata[field];
    if (content === null || content === undefined) delete metadata[field];
    else if (!metadataForms[field](content)) throw wrong(`there are impossible ${field}`);
  }
  for (const field of ['uid', 'deletionTimestamp', 'resourceVersion'] as const) {
    if (metadata[field] !== undefined && !isText(metadata[field])) throw wrong(`there is an impossible ${field}`);
  }
  return value as unknown as ApiObject;
}

const metadataForms = {
  labels: isTextMap,
  annotations: isTextMap,
  finalizers: isTexts,
  ownerReferences: (content: unknown) => Array.isArray(content) && content.every(isOwner),
} as const;

/** Owners are kept in memory while a file is read: their names are limited to the API's lengths. */
function isOwner(value: unknown): value is OwnerReference {
  const isShort = (text: unknown) => isText(text) && text.length <= mostOwnerText;
  return isFields(value) && [value.apiVersion, value.kind, value.name, value.uid].every(isShort);
}

function isNotTaken(value: unknown): value is NotTaken {
  return isFields(value) && isText(value.what) && isText(value.why) && typeof value.asked === 'boolean';
}

/** Whether a value can stand for exactly one segment of a path. */
export function isPathSegment(value: unknown): value is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in names
  return isText(value) && value.length <= 253 && !/^\.{0,2}$|[/%\u0000-\u0020\u007f-\u009f]/.test(value);
}

function parse(line: Buffer): unknown {
  try {
    return parseJson(line.toString('utf8'));
  } catch (error) {
    throw new BackupFileError('is damaged: a line is not JSON', { cause: error });
  }
}

function damaged(why: string): BackupFileError {
  return new BackupFileError(`is damaged: ${why}`);
}

function shown(name: unknown): string {
  return printable(JSON.stringify(isText(name) ? name.slice(0, 100) : typeof name));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTextMap(value: unknown): boolean {
  return isFields(value) && Object.values(value).every(isText);
}
