import { formatGoValue } from '../../../base/machinery/go-format.js';
import { plainScalar, plainText } from '../../../base/machinery/json/plain-json.js';
import { DecodeError, decode } from '../../../base/machinery/schema/index.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import { objectMeta } from '../../apis/meta/v1/object-meta.types.js';
import { placeText, shown } from './faults.js';
import { isRecord, type JsonRecord, setMember, sortedCopy, sortedKeys } from './json-objects.js';
import type { StructuralSchema } from './structural-schema.js';

export interface PruneOptions {
  /**
   * Whether the value is a whole object: its kind, apiVersion and metadata are kept untouched (the caller decodes them)
   * and come first in the copy.
   */
  readonly isRoot?: boolean;
  /** Whether nulls that the schema does not allow are kept, for {@link validateValue} to refuse. */
  readonly keepsNulls?: boolean;
  /** Called with the paths of dropped fields, in the order of the copy, for at most a hundred: `spec.list[0].bar`. */
  readonly onUnknown?: (path: string) => void;
}

/** The most unknown fields to report: more would not help anyone, and might not fit into a response. */
const maxUnknownFields = 100;

/** The position of the walk, and the treatment of unknown fields. */
interface Walk {
  readonly path: (string | number)[];
  readonly onUnknown: ((path: string) => void) | undefined;
  readonly keepsNulls: boolean;
  unknownFields: number;
}

/**
 * A copy of a value without the parts that its schema does not know: fields of objects without
 * x-kubernetes-preserve-unknown-fields, and, unless they are kept, nulls of fields that are not nullable and have no
 * default (those of fields with a default are replaced by {@link withDefaults}). Keys are sorted. Wrong types are kept
 * for {@link validateValue} to refuse, except in apiVersion, kind and metadata of embedded resources. Numbers and
 * strings are as every client reads them, see {@link plainScalar}. Takes time linear in the value, whatever the schema.
 *
 * @throws {DecodeError} for an embedded resource whose apiVersion, kind or metadata has a wrong type, and for a number
 * too large for a double.
 */
export function pruned(schema: StructuralSchema, value: unknown, options: PruneOptions = {}): unknown {
  const { isRoot = false, keepsNulls = false, onUnknown } = options;
  const walk: Walk = { path: [], onUnknown, keepsNulls, unknownFields: 0 };
  try {
    return isRoot && isRecord(value) ? copyOfRoot(schema, value, walk) : copyOf(schema, value, walk);
  } catch (error) {
    // The walk is still at the faulty value, so its position names that value.
    if (error instanceof ValueFormatError) throw new DecodeError(placeText(walk.path), error.message);
    throw error;
  }
}

function copyOfRoot(schema: StructuralSchema, value: JsonRecord, walk: Walk): JsonRecord {
  const copy: JsonRecord = {};
  for (const key of rootFields) if (Object.hasOwn(value, key)) copy[key] = value[key];
  for (const key of sortedKeys(value)) {
    if (!isMetaField(key)) copyMember(schema, value, key, copy, walk);
  }
  return copy;
}

const rootFields = ['kind', 'apiVersion', 'metadata'] as const;

function isMetaField(key: string): boolean {
  return key === 'metadata' || key === 'kind' || key === 'apiVersion';
}

/**
 * `schema` is undefined below additionalProperties: true and lists without a schema of their items. Objects there lose
 * all their fields, as on the reference.
 */
function copyOf(schema: StructuralSchema | undefined, value: unknown, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null) return plainScalar(value);
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (let i = 0; i < value.length; i++) copy.push(copyOfElement(schema, value[i], i, walk));
    return copy;
  }
  if (!isRecord(value)) return plainScalar(value);
  const copy: JsonRecord = {};
  const isEmbedded = schema?.xEmbedded === true;
  for (const key of sortedKeys(value)) {
    if (isEmbedded && isMetaField(key)) copyMetaField(key, value[key], copy, walk);
    else copyMember(schema, value, key, copy, walk);
  }
  return copy;
}

function copyOfElement(schema: StructuralSchema | undefined, element: unknown, index: number, walk: Walk): unknown {
  if (typeof element !== 'object' || element === null) return plainScalar(element);
  const items = schema?.items;
  if (schema?.xPreserve === true && items === undefined) return sortedCopy(element);
  walk.path.push(index);
  const copy = copyOf(items, element, walk);
  walk.path.pop();
  return copy;
}

function copyMember(
  schema: StructuralSchema | undefined,
  value: JsonRecord,
  key: string,
  copy: JsonRecord,
  walk: Walk,
): void {
  const member = value[key];
  const property = schema?.properties.get(key);
  if (property === undefined) {
    const additional = schema?.additionalProperties;
    if (typeof additional === 'object') copyKnown(additional, member, key, copy, walk);
    else if (schema?.xPreserve === true) setMember(copy, plainText(key), sortedCopy(member));
    else if (additional === undefined) noteUnknown(key, walk);
    else copyKnown(undefined, member, key, copy, walk);
  } else copyKnown(property, member, key, copy, walk);
}

function copyKnown(
  schema: StructuralSchema | undefined,
  member: unknown,
  key: string,
  copy: JsonRecord,
  walk: Walk,
): void {
  if (typeof member === 'object') {
    if (member === null) {
      if (schema !== undefined && isDroppedNull(schema, walk)) return;
      setMember(copy, plainText(key), null);
      return;
    }
    walk.path.push(key);
    setMember(copy, plainText(key), copyOf(schema, member, walk));
    walk.path.pop();
  } else setMember(copy, plainText(key), plainScalar(member));
}

/** Whether a null is dropped. Nulls are kept only where validation refuses them: where a type is declared. */
function isDroppedNull({ nullable, default: fallback, type, xIntOrString }: StructuralSchema, walk: Walk): boolean {
  if (nullable || fallback !== undefined) return false;
  return !walk.keepsNulls || (type === undefined && !xIntOrString);
}

/** apiVersion, kind or metadata of an embedded resource, whether its schema names them or not. */
function copyMetaField(key: string, value: unknown, copy: JsonRecord, walk: Walk): void {
  if (key !== 'metadata') {
    if (typeof value !== 'string') {
      throw new DecodeError(pathText(walk, key), `Invalid value: ${formatGoValue(shown(value))}: must be a string`);
    }
    copy[key] = value;
    return;
  }
  try {
    const { value: metadata, unknownFields } = decode(objectMeta, value);
    copy.metadata = metadata;
    for (const field of unknownFields) noteUnknown(`metadata.${field}`, walk);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const own = error.path === '' ? 'metadata' : `metadata.${error.path}`;
    throw new DecodeError(pathText(walk, own), error.detail);
  }
}

function noteUnknown(key: string, walk: Walk): void {
  if (walk.onUnknown === undefined || walk.unknownFields >= maxUnknownFields) return;
  walk.unknownFields++;
  walk.onUnknown(pathText(walk, key));
}

function pathText(walk: Walk, last: string): string {
  const text = placeText(walk.path);
  return text === '' ? last : `${text}.${last}`;
}
