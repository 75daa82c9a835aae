/** Thrown when a loop would write after the end of its term, when another process may lead already. */
export class TermOver extends Error {
  constructor() {
    super('the control loop has ended');
  }
}
