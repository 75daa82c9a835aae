import { formFaults, rootView, withCanonicalValues } from '../field-set/index.js';
import { isObject, type JsonObject } from '../patch/json-value.js';
import { DecodeError, decode, exceedsDepth, type KindType, maxDepth, restoreDetail } from '../schema/index.js';
import { badRequestError, unreasonedError } from '../status-error.js';

/**
 * Throws a 400 for a config of another kind or version, and a 500 without a reason for one that does not fit the
 * schema of the kind.
 */
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
    if (error instanceof DecodeError) throw unfit(type, config, error);
    throw error;
  }
}

/** Group, version and kind, as messages show them. */
function typeText(apiVersion: unknown, kind: unknown): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  if (text.split('/').length > 2) return '/, Kind=';
  return `${text.includes('/') ? text : `/${text}`}, Kind=${typeof kind === 'string' ? kind : ''}`;
}

function unusable(config: JsonObject, faults: readonly string[]): Error {
  const list = faults.length === 1 ? faults[0] : `errors:${faults.map((fault) => `\n  ${fault}`).join('')}`;
  return unreasonedError(`failed to create typed patch object (${objectText(config)}): ${list}`);
}

/** The 500 for a config whose values have the forms of the schema, but are not those of the type. */
function unfit(type: KindType, config: JsonObject, error: DecodeError): Error {
  const detail = restoreDetail(type, error);
  const cause = detail.startsWith('illegal base64') ? `error decoding from json: ${detail}` : detail;
  return unreasonedError(
    `failed to convert new object (${objectText(config)}) to proper version: ` +
      `unable to convert unstructured object to ${typeText(config.apiVersion, config.kind)}: ${cause}`,
  );
}

function objectText({ apiVersion, kind, metadata }: JsonObject): string {
  const { namespace, name } = isObject(metadata) ? metadata : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return `${text(namespace)}/${text(name)}; ${typeText(apiVersion, kind)}`;
}
