import {
  Budget,
  CelError,
  CostLimitExceeded,
  expressionCostLimit,
  type Program,
  type Value,
} from '../../../objects/cel/index.js';
import { AnswerPending } from './answer-pending.js';
import { EvaluationTurns } from './evaluation-turns.js';

/** Why an expression has no value for this request. */
export interface EvaluationFailure {
  readonly error: string;
  /** The budget is used up, so no further expression can be evaluated. */
  readonly isOutOfBudget: boolean;
}

export type EvaluationResult = { readonly value: Value; readonly error?: undefined } | EvaluationFailure;

export const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run';
/** Maximum number of authorizer checks per expression; the cost limit already permits fewer. */
const maxChecks = 16;
/** The turns of this thread. */
const turns = new EvaluationTurns();

/**
 * Evaluates the expressions of one request one after the other, under one budget. Long evaluations yield to other work
 * between expressions.
 */
export class ExpressionRun {
  private left: number;

  /** @param costLimit the cost limit of all expressions together */
  constructor(costLimit: number) {
    this.left = costLimit;
  }

  /** The value of an expression, or why it has none. Never rejects for a fault of the expression or its inputs. */
  async evaluate(program: Program, variables: Readonly<Record<string, Value>>): Promise<EvaluationResult> {
    for (let checks = 0; ; checks++) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
      const began = performance.now();
      let pending: Promise<void>;
      const budget = new Budget(Math.min(expressionCostLimit, this.left));
      try {
        const value = program.evaluate(variables, budget);
        this.left -= budget.spent;
        return { value };
      } catch (error) {
        if (!(error instanceof AnswerPending) || checks >= maxChecks) {
          this.left -= budget.spent;
          return failureOf(error);
        }
        pending = error.answered;
      } finally {
        turns.spent(performance.now() - began);
      }
      await pending;
    }
  }
}

/** Runs the preparation of an evaluation as soon as {@link EvaluationTurns} allows it. */
export async function inEvaluationTurn<T>(work: () => T): Promise<T> {
  const turn = turns.next();
  if (turn !== undefined) await turn;
  const began = performance.now();
  try {
    return work();
  } finally {
    turns.spent(performance.now() - began);
  }
}

function failureOf(error: unknown): EvaluationFailure {
  if (error instanceof CelError) return { error: error.message, isOutOfBudget: false };
  if (error instanceof CostLimitExceeded) return { error: outOfBudget, isOutOfBudget: true };
  if (error instanceof AnswerPending) return { error: 'too many questions to the authorizer', isOutOfBudget: false };
  throw error;
}
