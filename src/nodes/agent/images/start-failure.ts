import type { StartProblem } from '../pods/container-statuses.js';

/** A container that can't start now. */
export class StartFailure extends Error {
  constructor(
    readonly problem: StartProblem,
    /** The time of the next attempt, in milliseconds since the epoch; undefined: after the usual pause. */
    readonly retryAt?: number,
  ) {
    super(problem.message);
  }

  /** Whether the image is the reason; image problems have events of their own. */
  get isOfImage(): boolean {
    return /Image/.test(this.problem.reason);
  }
}
