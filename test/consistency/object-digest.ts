import { createHash } from 'node:crypto';

/** Annotation that carries the number of the write that made a state. */
export const operationAnnotation = 'consistency.test/operation';
/** Label that watches select by. */
export const tierLabel = 'tier';

/** The parts of an object's state that the checks need. */
export interface ObjectInfo {
  readonly uid: string;
  readonly tier: string | undefined;
  /** The write of this run that made the state, if there is one. */
  readonly operation: number | undefined;
  /** The same for equal content; version and type of the object do not count. */
  readonly digest: string;
}

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, as they were sent
type AnyObject = any;

/** Reads these parts from an object of a response or of the log. */
export function infoOf(object: AnyObject): ObjectInfo {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _version, ...meta } = metadata;
  const operation = metadata.annotations?.[operationAnnotation];
  return {
    uid: metadata.uid ?? '',
    tier: metadata.labels?.[tierLabel],
    operation: operation === undefined ? undefined : Number(operation),
    digest: createHash('sha1')
      .update(canonical({ ...rest, metadata: meta }))
      .digest('base64')
      .slice(0, 16),
  };
}

/** The version of an answered object or list as a number. */
export function versionOf(object: AnyObject): number {
  const text = object?.metadata?.resourceVersion;
  const version = Number(text);
  if (typeof text !== 'string' || !/^\d+$/.test(text) || !Number.isSafeInteger(version)) {
    throw new Error(`not a version: ${JSON.stringify(text)}`);
  }
  return version;
}

/** JSON with sorted keys; null and absent are the same, since creationTimestamp may be either. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
