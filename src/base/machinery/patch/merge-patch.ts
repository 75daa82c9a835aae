import { getOwn, isObject, type JsonObject, setOwn } from './json-value.js';
import { checkDepth } from './patch-error.js';

/**
 * Applies an RFC 7386 patch: null removes a member, objects merge, other values replace. Changes neither argument;
 * unchanged parts are shared with them. Throws a PatchError for a patch that is nested too deeply.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  checkDepth(patch);
  return merge(document, patch);
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const base: JsonObject = isObject(target) ? target : {};
  const result: Record<string, unknown> = { ...base };
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete result[key];
    else setOwn(result, key, merge(getOwn(base, key), value));
  }
  return result;
}
