import { formatGoValue } from '../go-format.js';
import { ExactNumber } from '../json/exact-numbers.js';
import { goPrint } from '../patch/go-print.js';
import { getOwn, isObject, type JsonObject } from '../patch/json-value.js';
import { elementOf } from './list-elements.js';
import { formatElement } from './path-element.js';
import type { KeyedView, LeafForm, StructView, TypeView } from './type-view.js';

/**
 * The reasons why an object can't be applied, each starting with its path: values of the wrong form, undeclared fields
 * (unless allowed), and list elements without keys or with duplicate ones. Null is always allowed.
 */
export function formFaults(view: StructView, object: JsonObject, allowUndeclared: boolean): string[] {
  const faults: string[] = [];
  check(view, object, '', { faults, allowUndeclared });
  if (faults.length > maxFaults) faults.splice(maxFaults, faults.length, 'and more');
  return faults;
}

/** Reporting more problems than this helps nobody. */
const maxFaults = 1000;

interface CheckRun {
  readonly faults: string[];
  readonly allowUndeclared: boolean;
}

function check(view: TypeView, value: unknown, path: string, run: CheckRun): void {
  if (value === null || value === undefined || view.kind === 'any' || view.kind === 'untracked') return;
  if (run.faults.length > maxFaults) return;
  if (view.kind === 'leaf') {
    const expected = leafFault(view.expected, value);
    if (expected !== undefined) run.faults.push(`${path}: expected ${expected}, got ${foundFor(view.expected, value)}`);
    else if (view.parts !== undefined) checkParts(view.parts(), value, path, run);
  } else if (view.kind === 'keyed' || view.kind === 'set') {
    if (Array.isArray(value)) checkElements(view, value, path, run);
    else run.faults.push(`${path}: expected list, got ${foundFor('list', value)}`);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const member = view.kind === 'map' ? view.value : (view.fields.get(name) ?? view.others);
      if (run.faults.length > maxFaults) return;
      if (member !== undefined) check(member, value[name], `${path}.${name}`, run);
      else if (!run.allowUndeclared) run.faults.push(`${path}.${name}: field not declared in schema`);
    }
  } else {
    run.faults.push(`${path}: expected map, got ${foundFor('map', value)}`);
  }
}

/** Checks the inside of an atomic value. */
function checkParts(view: TypeView, value: unknown, path: string, run: CheckRun): void {
  const isList = Array.isArray(value);
  for (const [i, part] of (isList ? value : [value]).entries()) check(view, part, isList ? `${path}[${i}]` : path, run);
}

function checkElements(
  view: KeyedView | { readonly kind: 'set' },
  items: readonly unknown[],
  path: string,
  run: CheckRun,
): void {
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    if (run.faults.length > maxFaults) return;
    const fault = view.kind === 'set' ? setFault(item) : keyFault(view, item);
    if (fault !== undefined) {
      run.faults.push(`${path}: element ${i}: ${fault}`);
      return;
    }
    const element = elementOf(view, item);
    const shown = formatElement(element);
    if (seen.has(element)) run.faults.push(`${path}: duplicate entries for key ${shown}`);
    seen.add(element);
    if (view.kind === 'keyed') check(view.element, item, path + shown, run);
  }
}

function setFault(item: unknown): string | undefined {
  if (!isStructured(item)) return undefined;
  if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
  return `associative list without keys has an element that's ${item === null ? 'an explicit null' : 'a map type'}`;
}

function keyFault(view: KeyedView, item: unknown): string | undefined {
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isObject(item)) return 'associative list with keys may not have non-map elements';
  const values = view.keys.map(({ name, default: fallback }) => getOwn(item, name) ?? fallback);
  const at = values.findIndex(isStructured);
  if (at >= 0) return `key field ${JSON.stringify(view.keys[at]?.name)} must be a scalar`;
  if (values.some((value) => value !== undefined)) return undefined;
  const omitted = `[${view.keys.map(({ name }) => JSON.stringify(name)).join(' ')}]`;
  return `associative list with keys has an element that omits all key fields ${omitted} (and doesn't have default values for any key fields)`;
}

/** The expected form, if the value does not have it. */
function leafFault(expected: LeafForm, value: unknown): string | undefined {
  switch (expected) {
    case 'string':
    case 'boolean':
      return typeof value === expected ? undefined : expected;
    case 'number':
      return isNumber(value) ? undefined : 'numeric (int or float)';
    case 'scalar':
      return isStructured(value) ? 'scalar' : undefined;
    case 'list':
      return Array.isArray(value) ? undefined : 'list';
    case 'map':
      return isObject(value) ? undefined : 'map';
    case 'any':
      return undefined;
  }
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber;
}

/** Whether a value is a list, a map or null. */
function isStructured(value: unknown): boolean {
  return typeof value === 'object' && !(value instanceof ExactNumber);
}

/** A value of another form than `expected`, as messages that programs know show it. */
function foundFor(expected: LeafForm, value: unknown): string {
  if (expected === 'number') {
    if (Array.isArray(value)) return '[]interface {}';
    return typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'map[string]interface {}' : typeof value;
  }
  if (expected !== 'string') return `&{${shownPart(goPrint(value))}}`;
  const type = Array.isArray(value) ? '[]interface {}' : isObject(value) ? 'map[string]interface {}' : '';
  return `&value.valueUnstructured{Value:${type}${shownPart(type === '' ? formatGoValue(value) : literal(value))}}`;
}

/** A list or map as it stands in a program: `{"a", map[string]interface {}{"b":1}}`. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map((item) => typedLiteral(item)).join(', ')}}`;
  const members = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${typedLiteral(member)}`).join(', ')}}`;
}

function typedLiteral(value: unknown): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}${literal(value)}`;
  return isObject(value) ? `map[string]interface {}${literal(value)}` : formatGoValue(value);
}

/** The most characters of a value that a fault shows. */
const shownLength = 1024;

function shownPart(text: string): string {
  return text.length > shownLength ? text.slice(0, shownLength) : text;
}
