import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooMany,
} from '../../base/machinery/field-error.js';
import { isQualifiedName } from '../../base/machinery/names.js';
import type { MatchCondition } from '../../objects/apis/admissionregistration/v1/rule.types.js';
import {
  admissionEnvironment,
  type CelEnvironment,
  type CelType,
  type CompiledText,
  CompileWork,
  compileText,
  types,
  wrongResult,
} from '../../objects/cel/index.js';

/** The most characters of all expressions of one object: compiling them is part of one request. */
export const maxExpressionsText = 100_000;
/** The most parts of all expressions of one object; a pattern counts as its instructions. */
const maxExpressionsParts = 15_000;
const maxMatchConditions = 64;
/** The most characters of an expression in a message: more would leave no characters for the reason. */
const maxShownLength = 1000;
const webhookEnvironment = admissionEnvironment();

/**
 * Checks the expressions of one policy or of one configuration of webhooks. Faults of expressions that the object had
 * before are not errors, since they may be older than today's checks, but their work counts.
 */
export class ExpressionCheck {
  private left = maxExpressionsText;
  private isOverWork = false;
  readonly work = new CompileWork(maxExpressionsParts);
  /** The compiled match conditions, by expression: many webhooks have the same conditions. */
  private readonly compiledConditions = new Map<string, CompiledText>();

  constructor(
    readonly errors: FieldError[],
    readonly known: ReadonlySet<string>,
    /** The word for the owner of the expressions in messages. */
    private readonly owner: 'policy' | 'webhook configuration' = 'policy',
  ) {}

  /** Records the fault of an expression: it is missing, too long, or can't be compiled. */
  check(text: string, path: FieldPath, environment: CelEnvironment, results: readonly CelType[]): void {
    if (text.trim() === '') this.errors.push(required(path));
    else if (this.fits(text, path) && !this.isOverWork) {
      const compiled = exactly(compileText(text, environment, results, this.work), results);
      if (!('fault' in compiled) || this.overWork(path)) return;
      if (!this.known.has(text)) {
        this.errors.push(expressionFault(path, text, compiled.fault));
      }
    }
  }

  /** Records the faults of match conditions: those of a webhook, or those of a policy with its environment. */
  checkConditions(
    conditions: readonly MatchCondition[],
    path: FieldPath,
    environment: CelEnvironment = webhookEnvironment,
  ): void {
    if (conditions.length > maxMatchConditions) {
      this.errors.push(tooMany(path, conditions.length, maxMatchConditions));
      return;
    }
    const names = new Set<string>();
    for (const [i, { name, expression }] of conditions.entries()) {
      const at = path.index(i);
      this.checkCondition(expression, at.child('expression'), environment);
      if (name === '') this.errors.push(required(at.child('name')));
      else for (const m of isQualifiedName(name)) this.errors.push(invalid(at.child('name'), name, m));
      if (names.has(name)) this.errors.push(duplicate(at.child('name'), name));
      names.add(name);
    }
  }

  private checkCondition(text: string, path: FieldPath, environment: CelEnvironment): void {
    if (text.trim() === '') {
      this.errors.push(required(path));
      return;
    }
    let compiled = this.compiledConditions.get(text);
    if (compiled === undefined) {
      if (this.isOverWork || !this.fits(text, path)) return;
      compiled = exactly(compileText(text, environment, [types.bool], this.work), [types.bool]);
      if (this.overWork(path)) return;
      this.compiledConditions.set(text, compiled);
    }
    if ('fault' in compiled && !this.known.has(text)) this.errors.push(expressionFault(path, text, compiled.fault));
  }

  /** Whether compiling has taken too much work; records the error once, for the first expression after the limit. */
  overWork(path: FieldPath): boolean {
    if (!this.work.isUsedUp) return false;
    if (!this.isOverWork) {
      const detail = `the expressions of a ${this.owner} must have at most ${maxExpressionsParts} parts together; a pattern counts as its instructions`;
      this.errors.push(forbidden(path, detail));
    }
    this.isOverWork = true;
    return true;
  }

  /** Whether an expression is within the limit for all expressions; records an error for the first that is not. */
  fits(text: string, path: FieldPath): boolean {
    if (this.left < 0) return false;
    this.left -= text.length;
    if (this.left >= 0) return true;
    const detail = `the expressions of a ${this.owner} must have at most ${maxExpressionsText} characters together`;
    this.errors.push(forbidden(path, detail));
    return false;
  }
}

/** The type of a new expression must be known to be the wanted one. Older expressions fail when they are evaluated. */
function exactly(compiled: CompiledText, results: readonly CelType[]): CompiledText {
  if ('fault' in compiled) return compiled;
  const { type } = compiled.program;
  const isOpen = type.kind === 'dyn' || (type.kind === 'list' && type.element.kind === 'dyn');
  return isOpen ? { fault: wrongResult(results, type) } : compiled;
}

/** The error for an expression that can't be used. The message shows only the beginning of a long one. */
export function expressionFault(path: FieldPath, expression: string, fault: string): FieldError {
  const isLong = expression.length > maxShownLength;
  return invalid(path, isLong ? `${expression.slice(0, maxShownLength)}...` : expression, fault);
}
