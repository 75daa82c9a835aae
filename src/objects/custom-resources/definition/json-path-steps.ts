import { ownValue } from '../../../base/machinery/own-value.js';
import type { LookBudget } from './look-budget.js';

/** One step of a JSON path: from the values found so far to further ones. */
export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'descendants' }
  | { readonly kind: 'element'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number | undefined;
    }
  | { readonly kind: 'union'; readonly branches: readonly (readonly Step[])[] }
  | {
      readonly kind: 'filter';
      readonly left: readonly Step[];
      readonly operator: '<' | '>' | '==' | '!=' | '<=' | '>=' | 'exists';
      readonly right: readonly Step[];
    }
  | { readonly kind: 'constant'; readonly value: string | number | boolean };

/** Thrown when a path does not fit the value. */
class Unfit extends Error {}

/** The values that steps find from a value; undefined when they do not fit it, or read too much of it. */
export function evaluateSteps(
  steps: readonly Step[],
  value: unknown,
  budget: LookBudget,
): readonly unknown[] | undefined {
  try {
    return follow(steps, [value], budget);
  } catch (error) {
    if (error instanceof Unfit) return undefined;
    throw error;
  }
}

function follow(steps: readonly Step[], from: readonly unknown[], budget: LookBudget): readonly unknown[] {
  let values = from;
  for (const step of steps) {
    const found: unknown[] = [];
    for (const value of values) take(step, value, found, budget);
    values = found;
    if (step.kind === 'constant') values = [step.value];
  }
  return values;
}

function take(step: Step, value: unknown, found: unknown[], budget: LookBudget): void {
  spend(budget);
  switch (step.kind) {
    case 'field': {
      const member = isMap(value) ? ownValue(value, step.name) : undefined;
      if (member !== undefined) found.push(member);
      return;
    }
    case 'all':
      for (const member of membersOf(value)) {
        spend(budget);
        found.push(member);
      }
      return;
    case 'descendants':
      takeDescendants(value, found, budget);
      return;
    case 'element': {
      if (isAbsent(value)) return;
      const list = listOf(value);
      const index = step.index < 0 ? step.index + list.length : step.index;
      if (index < 0 || index >= list.length) throw new Unfit();
      found.push(list[index]);
      return;
    }
    case 'slice':
      if (!isAbsent(value)) takeSlice(listOf(value), step, found, budget);
      return;
    case 'union':
      for (const branch of step.branches) found.push(...follow(branch, [value], budget));
      return;
    case 'filter':
      if (isAbsent(value)) return;
      for (const element of listOf(value)) {
        spend(budget);
        if (passes(element, step, budget)) found.push(element);
      }
      return;
    case 'constant':
      return;
  }
}

function takeDescendants(value: unknown, found: unknown[], budget: LookBudget): void {
  const pending = [value];
  while (pending.length > 0) {
    spend(budget);
    const next = pending.pop();
    const members = membersOf(next);
    if (members.length === 0) continue;
    found.push(next);
    for (const member of members.toReversed()) pending.push(member);
  }
}

function takeSlice(
  list: readonly unknown[],
  { from = 0, to = list.length, step = 1 }: Extract<Step, { kind: 'slice' }>,
  found: unknown[],
  budget: LookBudget,
): void {
  const start = from < 0 ? from + list.length : from;
  const end = to < 0 ? to + list.length : to;
  if (start === end) return;
  if (start < 0 || end > list.length || start > end) throw new Unfit();
  for (let i = start; i < end; i += step) {
    spend(budget);
    found.push(list[i]);
  }
}

function passes(
  element: unknown,
  { left, operator, right }: Extract<Step, { kind: 'filter' }>,
  budget: LookBudget,
): boolean {
  const lefts = follow(left, [element], budget);
  if (operator === 'exists') return lefts.length > 0;
  const rights = follow(right, [element], budget);
  if (lefts.length > 1 || rights.length > 1) throw new Unfit();
  if (lefts.length === 0 || rights.length === 0) return false;
  return compare(lefts[0], rights[0], operator);
}

function compare(
  left: unknown,
  right: unknown,
  operator: Exclude<Extract<Step, { kind: 'filter' }>['operator'], 'exists'>,
) {
  const a = comparable(left);
  const b = comparable(right);
  if (typeof a !== typeof b) throw new Unfit();
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
}

function comparable(value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number(value);
  throw new Unfit();
}

function spend(budget: LookBudget): void {
  if (budget.left-- <= 0) throw new Unfit();
}

function membersOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isMap(value) ? Object.values(value) : [];
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unfit();
  return value;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
