import { formFaults, rootView, withCanonicalValues } from '../field-set/index.js';
import { isObject, type JsonObject } from '../patch/json-value.js';
import { DecodeError, decode, exceedsDepth, type KindType, maxDepth } from '../schema/index.js';
import { badRequestError } from '../status-error.js';

/** Throws a 400 for a config that can't be applied as an object of a kind in a version. */
export function checkApplied(type: KindType, config: JsonObject, apiVersion: string, allowUndeclared: boolean): void {
  const { kind, metadata } = config;
  const version = config.apiVersion ?? '';
  if (version !== apiVersion || kind !== type.kind.kind) {
    throw badRequestError(`invalid object type: ${typeText(version, kind)}`);
  }
  if (isObject(metadata) && (metadata.managedFields ?? null) !== null) {
    throw badRequestError('metadata.managedFields must be nil');
  }
  if (exceedsDepth(config, maxDepth)) throw unusable(config, [`nested deeper than ${maxDepth} levels`]);
  const faults = formFaults(rootView(type), config, allowUndeclared);
  if (faults.length > 0) throw unusable(config, faults);
}

/** A checked config, with its values in canonical spelling. */
export function prepareApplied(type: KindType, config: JsonObject): JsonObject {
  try {
    return withCanonicalValues(rootView(type), config, decode(type, config).value) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw unusable(config, [error.message]);
    throw error;
  }
}

/** Group, version and kind, as messages show them. */
function typeText(apiVersion: unknown, kind: unknown): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  return `${text.includes('/') ? text : `/${text}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

function unusable({ apiVersion, kind, metadata }: JsonObject, faults: readonly string[]): Error {
  const { namespace, name } = isObject(metadata) ? metadata : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const object = `${text(namespace)}/${text(name)}; ${typeText(apiVersion, kind)}`;
  const list = faults.length === 1 ? faults[0] : `errors:${faults.map((fault) => `\n  ${fault}`).join('')}`;
  return badRequestError(`failed to create typed patch object (${object}): ${list}`);
}
