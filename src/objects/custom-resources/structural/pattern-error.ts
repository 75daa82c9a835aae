/** Thrown for a string that is not a pattern, and for patterns that take too much work. */
export class PatternError extends Error {}
