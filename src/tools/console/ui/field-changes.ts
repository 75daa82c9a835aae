import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import type { Change } from './timeline-fold.js';

/** More changes than anybody reads: the object is shown as changed as a whole. */
const mostChanges = 1000;
const mostLevels = 64;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The changes from one state of an object to another, in the form of `cluster.history`: `spec.containers[name=web].image`.
 * Versions and managed fields, which change with every write, are left out.
 */
export function fieldChanges(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = [];
  compare('', before, after, changes, 0);
  return changes.length > mostChanges ? [{ op: 'replace', path: '', from: before, to: after }] : changes;
}

const leftOut: ReadonlySet<string> = new Set(['metadata.managedFields', 'metadata.resourceVersion']);

function compare(path: string, before: unknown, after: unknown, changes: Change[], level: number): void {
  if (changes.length > mostChanges || leftOut.has(path) || isSame(before, after)) return;
  if (before === undefined) changes.push({ op: 'add', path, to: after });
  else if (after === undefined) changes.push({ op: 'remove', path, from: before });
  else if (level < mostLevels && isFields(before) && isFields(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(joined(path, key), own(before, key), own(after, key), changes, level + 1);
    }
  } else if (level < mostLevels && Array.isArray(before) && Array.isArray(after)) {
    compareLists(path, before, after, changes, level);
  } else changes.push({ op: 'replace', path, from: before, to: after });
}

function compareLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  changes: Change[],
  level: number,
): void {
  const key = keyOfLists(before, after);
  if (key === undefined) {
    for (let index = 0; index < Math.max(before.length, after.length); index++) {
      compare(`${path}[${index}]`, before[index], after[index], changes, level + 1);
    }
    return;
  }
  const byKey = (list: readonly unknown[]) => new Map(list.map((each) => [String((each as Fields)[key]), each]));
  const [earlier, later] = [byKey(before), byKey(after)];
  for (const name of new Set([...earlier.keys(), ...later.keys()])) {
    compare(`${path}[${key}=${name}]`, earlier.get(name), later.get(name), changes, level + 1);
  }
}

/** The field by which the elements of both lists can be told apart. */
function keyOfLists(...lists: readonly (readonly unknown[])[]): string | undefined {
  return ['name', 'type', 'uid', 'key'].find((key) =>
    lists.every((list) => {
      const names = list.map((each) => (isFields(each) ? own(each, key) : undefined));
      return names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
    }),
  );
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof ExactNumber && b instanceof ExactNumber) return a.text === b.text;
  return false;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/** Keys with dots in them, such as those of labels, stand in brackets. */
function joined(path: string, key: string): string {
  if (key.includes('.') || key.includes('[')) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}
