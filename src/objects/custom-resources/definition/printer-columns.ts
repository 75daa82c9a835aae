import { ExactNumber, nearestNumber } from '../../../base/machinery/json/exact-numbers.js';
import { goPrint } from '../../../base/machinery/patch/go-print.js';
import type { CustomResourceColumnDefinition } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { ageColumn, nameColumn, since } from '../../registry/definition/default-columns.js';
import type { TableCell, TableColumn } from '../../registry/resource-definition.js';
import { findByPath, type JsonPath, parseJsonPath } from './json-path.js';
import { JsonPathError } from './json-path-error.js';
import { LookBudget } from './look-budget.js';

/**
 * The columns of a version: the name, and the columns of the definition, or the age. Cells of one object, computed in
 * the order of the columns, together read a limited number of its values; cells after the limit are empty.
 */
export function printerColumns(columns: readonly CustomResourceColumnDefinition[]): readonly TableColumn[] {
  if (columns.length === 0) return [nameColumn, { ...ageColumn, type: 'date' }];
  let row: { readonly object: unknown; readonly budget: LookBudget } | undefined;
  const budgetOf = (object: unknown, index: number) => {
    const before = index === 0 ? undefined : row;
    const current = before !== undefined && before.object === object ? before : { object, budget: new LookBudget() };
    // After the last column, the object need not stay in memory.
    row = index === columns.length - 1 ? undefined : current;
    return current.budget;
  };
  return [nameColumn, ...columns.map((column, i) => printerColumn(column, (object) => budgetOf(object, i)))];
}

function printerColumn(
  { name, type, format, description, priority, jsonPath }: CustomResourceColumnDefinition,
  budgetOf: (object: unknown) => LookBudget,
): TableColumn {
  const path = pathOf(jsonPath);
  return {
    name,
    type: type as TableColumn['type'],
    ...(format === undefined ? {} : { format }),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...(priority === undefined ? {} : { priority }),
    cell: (object) => {
      const budget = budgetOf(object);
      const found = path && findByPath(path, object, budget);
      return found === undefined || found.length === 0 ? null : cellOf(type, found[0]);
    },
  };
}

/** The parsed path; undefined for an invalid one, which an older definition may have: its column stays empty. */
function pathOf(text: string): JsonPath | undefined {
  try {
    return parseJsonPath(text);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

const wholeNumber = /^-?\d{1,19}$/;

/** Objects and lists are shown as JSON, with sorted members. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return goPrint(value);
  return JSON.stringify(withSortedMembers(value)).replace(/[<>&\u2028\u2029]/g, unicodeEscape);
}

function withSortedMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map(withSortedMembers);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withSortedMembers(member)]));
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A value whose type is not that of its column is not shown; a string column shows all values. */
function cellOf(type: string, value: unknown): TableCell {
  if (type === 'string') return textOf(value);
  if (type === 'integer') {
    const whole = value instanceof ExactNumber && wholeNumber.test(value.text) ? BigInt(value.text) : value;
    if (typeof whole === 'bigint') return BigInt.asIntN(64, whole) === whole ? whole : Number(whole);
  }
  const plain = typeof value === 'bigint' ? Number(value) : nearestNumber(value);
  switch (type) {
    case 'integer':
      return typeof plain === 'number' ? Math.trunc(plain) : null;
    case 'number':
      return typeof plain === 'number' ? plain : null;
    case 'boolean':
      return typeof plain === 'boolean' ? plain : null;
    case 'date':
      if (typeof plain !== 'string') return null;
      return plain === '' || Number.isNaN(Date.parse(plain)) ? '<invalid>' : since(plain);
    default:
      return null;
  }
}
