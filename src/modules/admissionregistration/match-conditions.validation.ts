import type { MatchCondition } from '../../apis/admissionregistration/v1/rule.types.js';
import { admissionEnvironment, type CelEnvironment, type CompileWork, compileText, types } from '../../cel/index.js';
import { duplicate, type FieldError, type FieldPath, invalid, required, tooMany } from '../../machinery/field-error.js';
import { isQualifiedName } from '../../machinery/names.js';

const maxMatchConditions = 64;
/** The reason would not fit behind a longer expression. */
const maxShownLength = 1000;
const webhookEnvironment = admissionEnvironment();

/**
 * Broken rules of the match conditions of a webhook, or those of a policy with its environment. Expressions that the
 * object had before are not compiled again: they stay, whatever newer checks would say. Ends when `work` is used up.
 */
export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: FieldPath,
  errors: FieldError[],
  {
    environment = webhookEnvironment,
    known = noneKnown,
    work,
  }: { environment?: CelEnvironment; known?: ReadonlySet<string>; work?: CompileWork } = {},
): void {
  if (conditions.length > maxMatchConditions) {
    errors.push(tooMany(path, conditions.length, maxMatchConditions));
    return;
  }
  const names = new Set<string>();
  for (const [i, { name, expression }] of conditions.entries()) {
    const at = path.index(i);
    if (expression.trim() === '') errors.push(required(at.child('expression')));
    else if (work !== undefined || !known.has(expression)) {
      const compiled = compileText(expression, environment, [types.bool], work);
      if (work?.isUsedUp === true) return;
      if ('fault' in compiled && !known.has(expression))
        errors.push(expressionFault(at.child('expression'), expression, compiled.fault));
    }
    if (name === '') errors.push(required(at.child('name')));
    else for (const m of isQualifiedName(name)) errors.push(invalid(at.child('name'), name, m));
    if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    names.add(name);
  }
}

/** An expression that can't be used. The message shows its beginning if it is long. */
export function expressionFault(path: FieldPath, expression: string, fault: string): FieldError {
  const isLong = expression.length > maxShownLength;
  return invalid(path, isLong ? `${expression.slice(0, maxShownLength)}...` : expression, fault);
}

const noneKnown: ReadonlySet<string> = new Set();
