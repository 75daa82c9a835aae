/** A request that did not reach the other side. */
export class Unsent extends Error {
  constructor(readonly reason: Error) {
    super(reason.message);
  }
}
