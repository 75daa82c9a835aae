import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { ValidationRule } from '../../apis/apiextensions/v1/json-schema.types.js';
import { CompileWork } from '../../cel/index.js';
import type { StructuralSchema } from '../structural/index.js';
import { type CompiledRules, type CompiledValidationRule, compileRulesInSteps } from './compile-rules.js';
import { evaluateRulesAt } from './evaluate-rules.js';
import { costFactor, RuleCosts, ruleCostLimit, schemaCostLimit } from './rule-costs.js';
import { followSchemaPath } from './schema-path.js';

const reasons: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];
/** The most parts of all expressions of one version: compiling them takes at most a fifth of a second, in turns. */
const workLimit = 100_000;

/**
 * The reasons to refuse a definition because of the rules (x-kubernetes-validations) of a version whose schema is
 * valid: rules that can't be compiled, that compare values which can't be correlated, that could cost too much, or that
 * a default violates. One step for each rule. Messages are those of the reference.
 *
 * @param path of the schema
 */
export function* definitionRulesErrors(schema: StructuralSchema, path: FieldPath): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  checkTexts(schema, path, errors);
  if (errors.length > 0) return errors;
  const work = new CompileWork(workLimit);
  let compiled: CompiledRules | undefined;
  try {
    compiled = yield* compileRulesInSteps(schema, work);
  } catch (error) {
    if (!work.isUsedUp) throw error;
    return [forbidden(path, `the rules take too much work to compile: more than ${workLimit} parts of expressions`)];
  }
  if (compiled === undefined) return [];
  const costs = new RuleCosts();
  judge(compiled, path, 1, undefined, costs, errors);
  if (costs.total > schemaCostLimit) {
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    for (const place of costs.mostExpensive()) errors.push(forbidden(place, detail));
    errors.push(forbidden(path, tooExpensive(name, costs.total / schemaCostLimit)));
  }
  return errors;
}

/** Reports faults of rules that can be found without compiling them. */
function checkTexts(schema: StructuralSchema, path: FieldPath, errors: FieldError[]): void {
  for (const [i, rule] of schema.xValidations.entries()) {
    checkRule(rule, schema, path.child('x-kubernetes-validations').index(i), errors);
  }
  for (const [name, property] of schema.properties) checkTexts(property, path.child('properties').key(name), errors);
  const { items, additionalProperties } = schema;
  if (items !== undefined) checkTexts(items, path.child('items'), errors);
  if (typeof additionalProperties === 'object') {
    checkTexts(additionalProperties, path.child('additionalProperties'), errors);
  }
}

function checkRule(rule: ValidationRule, schema: StructuralSchema, at: FieldPath, errors: FieldError[]): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const text = rule.rule.trim();
  const shown = message.trim();
  if (text === '') errors.push(required(at.child('rule'), 'rule is not specified'));
  else if (message !== '' && shown === '') {
    errors.push(invalid(at.child('message'), message, 'must be non-empty if specified'));
  } else if (hasNewline(shown)) {
    errors.push(invalid(at.child('message'), message, 'must not contain line breaks'));
  } else if (hasNewline(text) && shown === '') {
    errors.push(required(at.child('message'), 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(at.child('messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupported(at.child('reason'), reason, reasons));
  }
  if (fieldPath === '') return;
  const fieldAt = at.child('fieldPath');
  if (fieldPath.trim() === '') errors.push(invalid(fieldAt, fieldPath, 'must be non-empty if specified'));
  else if (hasNewline(fieldPath)) errors.push(invalid(fieldAt, fieldPath, 'must not contain line breaks'));
  const found = hasNewline(fieldPath) ? { fault: '' } : followSchemaPath(fieldPath.trim(), schema, true);
  if ('fault' in found) errors.push(invalid(fieldAt, fieldPath, 'must be a valid path'));
}

function hasNewline(text: string): boolean {
  return /[\r\n]/.test(text);
}

/**
 * Checks the rules of a part and of everything below it.
 *
 * @param count how many values of the part an object has at most; undefined if nothing bounds it
 * @param uncorrelated the enclosing list whose elements have no old value
 */
function judge(
  part: CompiledRules,
  path: FieldPath,
  count: number | undefined,
  uncorrelated: FieldPath | undefined,
  costs: RuleCosts,
  errors: FieldError[],
): void {
  if (part.schema.default !== undefined && part.schema.default !== null) {
    for (const error of evaluateRulesAt(part, part.schema.default, path.child('default'))) errors.push(error);
  }
  for (const [i, rule] of part.rules.entries()) {
    const at = path.child('x-kubernetes-validations').index(i);
    judgeRule(rule, at, { count, uncorrelated, leastSize: part.type?.minSize ?? 0 }, costs, errors);
  }
  for (const [name, property] of part.properties) {
    judge(property, path.child('properties').key(name), count, uncorrelated, costs, errors);
  }
  const times = (most: number | undefined) => (count === undefined || most === undefined ? undefined : count * most);
  const { validation, xListType } = part.schema;
  if (part.items !== undefined) {
    const inner = xListType === 'map' ? uncorrelated : (uncorrelated ?? path);
    judge(part.items, path.child('items'), times(validation?.maxItems), inner, costs, errors);
  }
  if (part.entries !== undefined) {
    const at = path.child('additionalProperties');
    judge(part.entries, at, times(validation?.maxProperties), uncorrelated, costs, errors);
  }
}

/** The place of a rule in its schema. */
interface RulePlace {
  /** The most values of an object that the rule is evaluated for; undefined if nothing bounds it. */
  readonly count: number | undefined;
  /** The enclosing list whose items cannot be matched with the old ones. */
  readonly uncorrelated: FieldPath | undefined;
  /** The least size of a value that the rule is evaluated for. */
  readonly leastSize: number;
}

function judgeRule(
  { source, program, fault, message, messageFault, isTransition }: CompiledValidationRule,
  at: FieldPath,
  { count, uncorrelated, leastSize }: RulePlace,
  costs: RuleCosts,
  errors: FieldError[],
): void {
  const ruleAt = at.child('rule');
  if (program === undefined) errors.push(invalid(ruleAt, shownRule(source), fault ?? ''));
  else {
    const cost = costs.add(ruleAt, program.cost.max, count, leastSize);
    if (cost > ruleCostLimit) {
      errors.push(forbidden(ruleAt, tooExpensive('estimated rule cost', cost / ruleCostLimit)));
    }
    if (isTransition && uncorrelated !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      errors.push(invalid(ruleAt, source.rule, detail));
    }
  }
  if (!isTransition && source.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.push(invalid(at.child('optionalOldSelf'), source.optionalOldSelf, detail));
  }
  // The message of a rule that does not compile is never evaluated.
  if (program === undefined) return;
  const messageAt = at.child('messageExpression');
  if (messageFault !== undefined) errors.push(invalid(messageAt, shownRule(source), messageFault));
  else if (message !== undefined) {
    // The newest release counts one message for each object.
    const cost = costs.add(messageAt, message.cost.max, 1, 0);
    if (cost > ruleCostLimit) {
      errors.push(forbidden(messageAt, tooExpensive('estimated messageExpression cost', cost / ruleCostLimit)));
    }
  }
}

/** A rule as messages show it, with all its fields. */
function shownRule(source: ValidationRule): object {
  const { rule, message = '', messageExpression = '', reason = null, fieldPath = '', optionalOldSelf = null } = source;
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf,
  };
}

function tooExpensive(what: string, factor: number): string {
  const hint =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${costFactor(factor)} (${hint})`;
}
