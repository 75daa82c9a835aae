/** A request that did not reach the other side. */
export class Unsent extends Error {
  /** @param isStale whether the other side had closed the kept-alive connection that the request was given */
  constructor(
    readonly reason: Error,
    readonly isStale = false,
  ) {
    super(reason.message);
  }
}
