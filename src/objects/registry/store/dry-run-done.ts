/** Thrown to end an update without a write once the result of a dry run is known. */
export class DryRunDone extends Error {}
