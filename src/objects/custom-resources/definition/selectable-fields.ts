import type { ApiObject } from '../../../base/machinery/api-object.js';
import { getOwn, isObject } from '../../../base/machinery/patch/json-value.js';
import { plainFields } from './json-path.js';

/** Names of the fields behind JSON paths, as field selectors write them. */
export function selectableNames(paths: readonly string[]): readonly string[] {
  return paths.map((path) => path.replace(/^\./, ''));
}

/** The values of selectable fields as strings; empty for fields that an object does not have. */
export function selectableValues(paths: readonly string[]): (object: ApiObject) => Readonly<Record<string, string>> {
  const fields = paths.map((path) => ({ name: path.replace(/^\./, ''), steps: plainFields(path) }));
  return (object) => Object.fromEntries(fields.map(({ name, steps }) => [name, textOf(valueAt(object, steps))]));
}

function valueAt(object: ApiObject, steps: readonly string[]): unknown {
  let value: unknown = object;
  for (const step of steps) {
    if (!isObject(value)) return undefined;
    value = getOwn(value, step);
  }
  return value;
}

function textOf(value: unknown): string {
  return value === undefined || value === null || isObject(value) || Array.isArray(value) ? '' : String(value);
}
