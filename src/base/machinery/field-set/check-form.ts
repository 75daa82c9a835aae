import { ExactNumber } from '../json/exact-numbers.js';
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
    if (expected !== undefined) run.faults.push(`${path}: expected ${expected}, got ${formOf(value)}`);
    else if (view.parts !== undefined) checkParts(view.parts(), value, path, run);
  } else if (view.kind === 'keyed' || view.kind === 'set') {
    if (Array.isArray(value)) checkElements(view, value, path, run);
    else run.faults.push(`${path}: expected list, got ${formOf(value)}`);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const member = view.kind === 'map' ? view.value : (view.fields.get(name) ?? view.others);
      if (run.faults.length > maxFaults) return;
      if (member !== undefined) check(member, value[name], `${path}.${name}`, run);
      else if (!run.allowUndeclared) run.faults.push(`${path}.${name}: field not declared in schema`);
    }
  } else {
    run.faults.push(`${path}: expected map, got ${formOf(value)}`);
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
  items.forEach((item, i) => {
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
  });
}

function setFault(item: unknown): string | undefined {
  return isStructured(item) ? `expected scalar, got ${formOf(item)}` : undefined;
}

function keyFault(view: KeyedView, item: unknown): string | undefined {
  if (!isObject(item)) return `expected map, got ${formOf(item)}`;
  for (const { name, default: fallback } of view.keys) {
    const value = getOwn(item, name) ?? fallback;
    if (value === undefined) {
      const omitted = `omits key field ${JSON.stringify(name)} (and doesn't have default value)`;
      return `associative list with keys has an element that ${omitted}`;
    }
    if (isStructured(value)) return `key field ${JSON.stringify(name)} must be a scalar`;
  }
  return undefined;
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

function formOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  if (isNumber(value)) return 'number';
  return typeof value === 'object' ? 'map' : typeof value;
}
