import type { Budget } from './budget.js';
import type { Value } from './values/value.js';

/** One evaluation of one expression. */
export interface Evaluation {
  /** Values of the declared variables. */
  readonly variables: Readonly<Record<string, Value>>;
  /** Values of the variables of macros, innermost last. */
  readonly locals: Value[];
  readonly budget: Budget;
}
