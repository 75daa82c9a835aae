/** Thrown when validating a value takes more work than allowed. */
export class ValidationBudgetExceeded extends Error {}
