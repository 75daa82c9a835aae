import { type CompiledText, policyCostLimit, type Value } from '../../../../objects/cel/index.js';
import { type EvaluationResult, ExpressionRun } from '../../expressions/expression-run.js';
import type { PolicyErrorType } from '../../policies/policy-metrics.js';
import type { CompiledExpressions, CompiledPolicy, CompiledValidation } from './compiled-policy.js';

/** The result of one validation of a policy for one request. */
export interface PolicyDecision {
  readonly denied: boolean;
  readonly message: string;
  /** Reason in the status; empty for the default. */
  readonly reason: string;
  readonly errorType: PolicyErrorType;
  /** Position of the validation; unset for a decision about the whole policy. */
  readonly index: number | undefined;
  /** Whether the policy is at fault, whatever its binding. */
  readonly isOfPolicy?: boolean;
}

/** An audit annotation of a policy, or the error that prevented it. */
export interface PolicyAnnotation {
  readonly key: string;
  readonly value: string;
}

/** The complete result of a policy for one request, for one binding and one parameter. */
export interface PolicyVerdict {
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly PolicyAnnotation[];
}

const maxMessageLength = 5 * 1024;
const maxAnnotationLength = 10 * 1024;

/** A decision about the whole policy. */
export function policyFailure(message: string, errorType: PolicyErrorType): PolicyDecision {
  return { denied: true, message, reason: '', errorType, index: undefined };
}

/**
 * Evaluates validations and annotations of a policy. The failure policy decides whether errors deny the request or are
 * ignored.
 */
export async function decide(
  policy: Pick<CompiledPolicy, 'failsClosed'>,
  { validations, annotations }: Pick<CompiledExpressions, 'validations' | 'annotations'>,
  variables: Readonly<Record<string, Value>>,
): Promise<PolicyVerdict> {
  const run = new ExpressionRun(policyCostLimit);
  const decisions: PolicyDecision[] = [];
  for (const [index, validation] of validations.entries()) {
    const result = await evaluate(run, validation.condition, variables);
    const decision =
      result.error === undefined
        ? await judged(run, validation, result.value, variables)
        : failed(policy, validation.expression, result, 'fault' in validation.condition);
    decisions.push({ ...decision, index });
  }
  const made: PolicyAnnotation[] = [];
  for (const { key, value: source, expression } of annotations) {
    const result = await evaluate(run, source, variables);
    if (result.error !== undefined) {
      const decision = failed(policy, expression, result, 'fault' in source);
      if (decision.denied) decisions.push({ ...decision, index: undefined });
    } else if (typeof result.value === 'string') {
      if (result.value.trim() !== '') made.push({ key, value: result.value.trim().slice(0, maxAnnotationLength) });
    } else if (result.value !== null) {
      const message = `valueExpression '${expression}' resulted in unsupported return type. Return type must be either string or null.`;
      if (policy.failsClosed) decisions.push(policyFailure(message, 'invalid_error'));
    }
  }
  return { decisions, annotations: made };
}

async function evaluate(
  run: ExpressionRun,
  source: CompiledText,
  variables: Readonly<Record<string, Value>>,
): Promise<EvaluationResult> {
  if ('fault' in source) return { error: source.fault, isOutOfBudget: false };
  return run.evaluate(source.program, variables);
}

type Outcome = Omit<PolicyDecision, 'index'>;

function failed(
  policy: Pick<CompiledPolicy, 'failsClosed'>,
  expression: string,
  { error, isOutOfBudget = false }: EvaluationResult & { readonly isOutOfBudget?: boolean },
  isCompileError: boolean,
): Outcome {
  return {
    denied: policy.failsClosed,
    message: `expression '${expression}' resulted in error: ${error}`,
    reason: '',
    errorType: isCompileError ? 'compile_error' : isOutOfBudget ? 'out_of_budget' : 'invalid_error',
  };
}

async function judged(
  run: ExpressionRun,
  validation: CompiledValidation,
  value: Value,
  variables: Readonly<Record<string, Value>>,
): Promise<Outcome> {
  if (value === true) return { denied: false, message: '', reason: '', errorType: 'no_error' };
  const own = await computedMessage(run, validation.messageExpression, variables);
  const message = own || validation.message || `failed expression: ${validation.expression}`;
  return { denied: true, message, reason: validation.reason, errorType: 'no_error' };
}

/** The message that a message expression returns; empty if the message can't be shown. */
async function computedMessage(
  run: ExpressionRun,
  source: CompiledText | undefined,
  variables: Readonly<Record<string, Value>>,
): Promise<string> {
  if (source === undefined) return '';
  const { value } = (await evaluate(run, source, variables)) as { readonly value?: Value };
  if (typeof value !== 'string') return '';
  const message = value.trim();
  return message.includes('\n') || message.length > maxMessageLength ? '' : message;
}
