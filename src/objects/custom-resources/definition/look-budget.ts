/** The most values that all paths of a table row may read in one object. */
const mostLooks = 30_000;

/** How many values the evaluations that share the budget may still read. */
export class LookBudget {
  left = mostLooks;
}
