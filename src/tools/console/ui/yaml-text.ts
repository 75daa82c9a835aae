import { isMap, isNode, parse, parseDocument, stringify } from 'yaml';
import type { Metadata } from './metadata.js';

/** An object of the API. Whole numbers that JavaScript can't hold are bigints. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata & { readonly managedFields?: readonly ManagedFields[] };
  readonly [field: string]: unknown;
}

export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const exactNumbers: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(context.source) ? value : BigInt(context.source);
};

/** Reads an object as the server sent it, without rounding large numbers. */
export function readObject(json: string): ApiObject {
  return (JSON.parse as (text: string, reviver: Reviver) => ApiObject)(json, exactNumbers);
}

/**
 * The YAML of a value with sorted fields: servers send the same fields in different orders. Strings that an older
 * version of YAML reads as something else, such as `on` and `0777`, are quoted: servers read that version.
 */
export function toYaml(value: unknown): string {
  return stringify(value, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    sortMapEntries: true,
    compat: 'yaml-1.1',
  });
}

/** The object as people read and edit it: who manages which field is for programs. */
export function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The fault of an edited text, or undefined. The server reports the rest. */
export function yamlProblem(text: string): string | undefined {
  try {
    const value: unknown = parse(text, { maxAliasCount: 0, intAsBigInt: true, logLevel: 'error' });
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? undefined : 'this is not an object';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The version of the object that a text was edited from. */
export function versionIn(text: string): string | undefined {
  try {
    const value = parse(text, { maxAliasCount: 0, logLevel: 'error' }) as {
      metadata?: { resourceVersion?: unknown };
    } | null;
    const version = value?.metadata?.resourceVersion;
    return version === undefined ? undefined : String(version);
  } catch {
    return undefined;
  }
}

/** The text with another version, everything else as it was typed. */
export function withVersion(text: string, version: string): string {
  const document = parseDocument(text, { logLevel: 'error' });
  const quoted = JSON.stringify(version);
  const present = document.getIn(['metadata', 'resourceVersion'], true);
  if (isNode(present) && present.range) {
    const [start, end] = present.range;
    return text.slice(0, start) + quoted + text.slice(end);
  }
  const metadata = document.get('metadata', true);
  const first = isMap(metadata) ? metadata.items[0]?.key : undefined;
  if (isMap(metadata) && isNode(first) && first.range) {
    const [start] = first.range;
    const indent = ' '.repeat(start - text.lastIndexOf('\n', start - 1) - 1);
    const next = metadata.flow === true ? ', ' : `\n${indent}`;
    return `${text.slice(0, start)}resourceVersion: ${quoted}${next}${text.slice(start)}`;
  }
  if (!isMap(document.contents)) return text;
  document.set('metadata', { resourceVersion: version });
  return String(document);
}
