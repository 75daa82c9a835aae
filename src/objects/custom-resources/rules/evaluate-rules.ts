import {
  duplicate,
  duplicateOmitted,
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  invalidOmitted,
  required,
} from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { Budget, CelError, CostLimitExceeded, OptionalValue, type Value } from '../../cel/index.js';
import { isRecord } from '../structural/json-objects.js';
import { oldItems } from '../structural/list-items.js';
import type { CompiledRules, CompiledValidationRule } from './compile-rules.js';
import { pathBelow } from './schema-path.js';

/** The budget of all rules for one object, as in the newest release. */
export const objectCostLimit = 10_000_000;
/** The budget of one evaluation. */
const evaluationCostLimit = 1_000_000;
const longestMessage = 5 * 1024;
/** The longest value that a message repeats, in characters. */
const longestShown = 10_000;
/** The most errors to report: more would not help anyone. */
const mostErrors = 100;

/** The path that messages show for a whole object. */
const wholeObject = FieldPath.of('<nil>');

/** CPU time in milliseconds after which a request should continue in another thread, and the limit for all rules. */
const leaveAfterMs = 15;
const longestMs = 500;
/** The CPU time for rules about parts that did not change: they only warn, so the request need not wait for them. */
const longestWarningMs = 5;
/** The budget of one evaluation of such a rule. */
const warningCostLimit = 50_000;
/** How many units are spent between readings of the clock; a reading takes about as long as ten units. */
const unitsBetweenLooks = 2_000;
const evaluationUnits = 20;

export interface EvaluateOptions {
  /** Called when the rules take long. May throw to interrupt them, so that they are evaluated again elsewhere. */
  readonly leave?: () => void;
}

/**
 * The rules that a valid object violates. Parts that are null or missing are not reported. A rule about a part that an
 * update did not change is not reported, unless it compares with the old value.
 *
 * Synchronous: bounded by a budget for each evaluation and for the object, and by CPU time.
 *
 * @param old the object before an update; undefined for a new one
 */
export function evaluateRules(
  compiled: CompiledRules | undefined,
  value: unknown,
  old: unknown,
  { leave }: EvaluateOptions = {},
): FieldError[] {
  if (compiled === undefined) return [];
  return walkRules(new RulesWalk(leave), compiled, value, { value: old, hasValue: old !== undefined, isSame: false });
}

/**
 * The rules that parts of an object violate which an update did not change; those that compare with the old value are
 * left out. They do not refuse the update, but its client is warned of them.
 *
 * Synchronous: bounded like {@link evaluateRules}, and by a few milliseconds, after which the rest is left out.
 */
export function brokenWhereUnchanged(compiled: CompiledRules, value: unknown, old: unknown): FieldError[] {
  return walkRules(new RulesWalk(undefined, true), compiled, value, { value: old, hasValue: true, isSame: false });
}

/** Like {@link evaluateRules}, for a new value of a part of a schema. */
export function evaluateRulesAt(part: CompiledRules, value: unknown, path: FieldPath): FieldError[] {
  return walkRules(new RulesWalk(undefined), part, value, noOld, path);
}

function walkRules(walk: RulesWalk, part: CompiledRules, value: unknown, old: Old, path?: FieldPath): FieldError[] {
  try {
    walk.visit(part, value, old, path);
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
  }
  return walk.errors;
}

/** The part of the old object that corresponds to a part of the new one. */
interface Old {
  readonly value: unknown;
  /** Whether there is an old part that rules may compare with. */
  readonly hasValue: boolean;
  /** Whether an enclosing part is known to be unchanged. */
  readonly isSame: boolean;
}

const noOld: Old = { value: undefined, hasValue: false, isSame: false };

/** Thrown to end the walk: no more rules are evaluated. */
class OutOfBudget extends Error {}

class RulesWalk {
  readonly errors: FieldError[] = [];
  private spent = 0;
  private nextLook = unitsBetweenLooks;
  private readonly startedAt = processorMs();

  /** @param wantsUnchanged whether it looks at rules about unchanged parts alone, instead of at all others */
  constructor(
    private readonly leave: (() => void) | undefined,
    private readonly wantsUnchanged = false,
  ) {}

  visit(part: CompiledRules, value: unknown, old: Old, path: FieldPath | undefined): void {
    if (value === null || value === undefined) return;
    const isSame = old.isSame || (old.hasValue && deepEqual(value, old.value));
    if (isSame && !part.hasTransitions && !this.wantsUnchanged) return;
    for (const rule of part.rules) this.judge(rule, part, value, { ...old, isSame }, path);
    if (Array.isArray(value)) this.visitItems(part, value, old, isSame, path);
    else if (isRecord(value)) this.visitFields(part, value, old, isSame, path);
  }

  private visitFields(
    part: CompiledRules,
    value: Readonly<Record<string, unknown>>,
    old: Old,
    isSame: boolean,
    path: FieldPath | undefined,
  ): void {
    const oldRecord = old.hasValue && isRecord(old.value) ? old.value : undefined;
    const oldOf = (name: string): Old => {
      const has = oldRecord !== undefined && Object.hasOwn(oldRecord, name) && oldRecord[name] !== null;
      return { value: has ? oldRecord[name] : undefined, hasValue: has, isSame };
    };
    for (const [name, below] of part.properties) {
      if (Object.hasOwn(value, name)) {
        this.visit(below, value[name], oldOf(name), path === undefined ? FieldPath.of(name) : path.child(name));
      }
    }
    if (part.entries === undefined) return;
    for (const name of Object.keys(value)) {
      if (part.schema.properties.has(name)) continue;
      this.visit(part.entries, value[name], oldOf(name), (path ?? wholeObject).key(name));
    }
  }

  private visitItems(
    part: CompiledRules,
    value: readonly unknown[],
    old: Old,
    isSame: boolean,
    path: FieldPath | undefined,
  ): void {
    const { items, schema } = part;
    if (items === undefined) return;
    const isKeyed = schema.xListType === 'map' && old.hasValue && Array.isArray(old.value);
    const find = isKeyed ? oldItems(schema, old.value as readonly unknown[]) : undefined;
    for (const [i, item] of value.entries()) {
      const found = find?.(item);
      const oldItem: Old = found === undefined ? { ...noOld, isSame } : { value: found, hasValue: true, isSame };
      this.visit(items, item, oldItem, (path ?? wholeObject).index(i));
    }
  }

  private judge(
    rule: CompiledValidationRule,
    part: CompiledRules,
    value: unknown,
    old: Old,
    path: FieldPath | undefined,
  ): void {
    if (!this.concerns(rule, old)) return;
    const { source, program, fault } = rule;
    const at = path ?? wholeObject;
    // The message for a rule that could not be evaluated names the type of the value.
    const kind = part.schema.type ?? '';
    if (program === undefined || part.type === undefined) {
      if (!this.wantsUnchanged) this.report(invalid(at, kind, `rule compile error: ${fault}`));
      return;
    }
    const budget = new Budget(this.wantsUnchanged ? warningCostLimit : evaluationCostLimit);
    try {
      const variables = this.variablesOf(rule, part, value, old, budget);
      if (program.evaluate(variables, budget) === true) return;
      this.report(violation(rule, at, value, this.messageOf(rule, variables)));
    } catch (error) {
      if (error instanceof CostLimitExceeded) {
        if (this.wantsUnchanged) throw new OutOfBudget();
        const text = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown(source)}`;
        this.report(invalid(at, kind, text));
        throw new OutOfBudget();
      }
      if (!(error instanceof CelError)) throw error;
      this.report(invalid(at, kind, faultText(error, source)));
    } finally {
      this.spend(budget.spent, at, kind);
    }
  }

  private concerns(rule: CompiledValidationRule, old: Old): boolean {
    if (this.wantsUnchanged) return old.isSame && !rule.isTransition;
    return rule.isTransition ? old.hasValue || rule.hasOptionalOld : !old.isSame;
  }

  /** Deducts the cost of an evaluation from the budget of the object. */
  private spend(units: number, at: FieldPath, kind: string): void {
    this.spent += units + evaluationUnits;
    let isOver = this.spent > objectCostLimit;
    if (this.spent > this.nextLook) {
      this.nextLook = this.spent + unitsBetweenLooks;
      const took = processorMs() - this.startedAt;
      if (took > leaveAfterMs) this.leave?.();
      isOver ||= took > (this.wantsUnchanged ? longestWarningMs : longestMs);
    }
    if (!isOver) return;
    if (this.wantsUnchanged) throw new OutOfBudget();
    const text = 'validation failed due to running out of cost budget, no further validation rules will be run';
    this.report(invalid(at, kind, text));
    throw new OutOfBudget();
  }

  private variablesOf(
    rule: CompiledValidationRule,
    { type }: CompiledRules,
    value: unknown,
    old: Old,
    budget: Budget,
  ): Record<string, Value> {
    const self = type?.valueOf(value, budget) as Value;
    if (!rule.isTransition) return { self };
    const oldSelf = old.hasValue ? (type?.valueOf(old.value, budget) as Value) : undefined;
    if (!rule.hasOptionalOld) return { self, oldSelf: oldSelf as Value };
    return { self, oldSelf: oldSelf === undefined ? OptionalValue.none : OptionalValue.of(oldSelf) };
  }

  /** The message that the rule's messageExpression returns, unless that message can't be shown. */
  private messageOf({ source, message }: CompiledValidationRule, variables: Readonly<Record<string, Value>>): string {
    const standard = source.message?.trim() || `failed rule: ${shown(source)}`;
    if (message === undefined) return standard;
    const budget = new Budget(evaluationCostLimit);
    try {
      const made = message.evaluate(variables, budget);
      const text = typeof made === 'string' ? made.trim() : '';
      const isShown = text !== '' && !/[\r\n]/.test(text) && Buffer.byteLength(text) <= longestMessage;
      return isShown ? text : standard;
    } catch (error) {
      if (error instanceof CelError || error instanceof CostLimitExceeded) return standard;
      throw error;
    } finally {
      this.spent += budget.spent;
    }
  }

  private report(error: FieldError): void {
    this.errors.push(error);
    if (this.errors.length >= mostErrors) throw new OutOfBudget();
  }
}

function violation(
  { source, place }: CompiledValidationRule,
  path: FieldPath,
  value: unknown,
  detail: string,
): FieldError {
  const at = pathBelow(path === wholeObject ? undefined : path, place) ?? path;
  switch (source.reason) {
    case 'FieldValueForbidden':
      return forbidden(at, detail);
    case 'FieldValueRequired':
      return required(at, detail);
    case 'FieldValueDuplicate':
      return isShown(value) ? duplicate(at, value) : duplicateOmitted(at);
    default:
      return wrong(at, value, detail);
  }
}

function wrong(at: FieldPath, value: unknown, detail: string): FieldError {
  return isShown(value) ? invalid(at, value, detail) : invalidOmitted(at, detail);
}

/** Whether a value is shown in messages: objects, lists and long strings are not. */
function isShown(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= longestShown : typeof value !== 'object';
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function shown({ message, rule }: CompiledValidationRule['source']): string {
  return message?.trim() || rule.trim();
}

function faultText({ message }: CelError, source: CompiledValidationRule['source']): string {
  if (message.startsWith('no such overload') || message.startsWith('found no matching overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown(source)}`;
  }
  return `${message} evaluating rule: ${shown(source)}`;
}
