/** Thrown to stop checking an expression with too many faults. */
export class TooManyIssues extends Error {}
