import { formFaults, rootView, withCanonicalValues } from '../field-set/index.js';
import { isObject, type JsonObject } from '../patch/json-value.js';
import { DecodeError, decode, exceedsDepth, type KindType, maxDepth } from '../schema/index.js';
import { badRequestError } from '../status-error.js';

/** Throws a 400 for a config that can't be applied as an object of a kind in a version. */
export function checkApplied(type: KindType, config: JsonObject, apiVersion: string, allowUndeclared: boolean): void {
  const { kind, metadata } = config;
  const version = config.apiVersion ?? '';
  if (version !== apiVersion) {
    const detail = `Specified patch version: ${String(version)}, expected: ${apiVersion}`;
    throw badRequestError(`Incorrect version specified in apply patch. ${detail}`);
  }
  if (kind !== type.kind.kind) {
    const detail = `Specified patch kind: ${String(kind ?? '')}, expected: ${type.kind.kind}`;
    throw badRequestError(`Incorrect kind specified in apply patch. ${detail}`);
  }
  if (isObject(metadata) && (metadata.managedFields ?? null) !== null) {
    throw badRequestError('metadata.managedFields must be nil');
  }
  if (exceedsDepth(config, maxDepth)) throw unusable([`nested deeper than ${maxDepth} levels`]);
  const faults = formFaults(rootView(type), config, allowUndeclared);
  if (faults.length > 0) throw unusable(faults);
}

/** A checked config, with its values in canonical spelling. */
export function prepareApplied(type: KindType, config: JsonObject): JsonObject {
  try {
    return withCanonicalValues(rootView(type), config, decode(type, config).value) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw unusable([error.message]);
    throw error;
  }
}

function unusable(faults: readonly string[]): Error {
  const list = faults.length === 1 ? faults[0] : `errors:${faults.map((fault) => `\n  ${fault}`).join('')}`;
  return badRequestError(`failed to create typed patch object: ${list}`);
}
