/** A value does not fit its declaration. Its path is determined separately, since almost all values fit. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';

  constructor(
    readonly expected: string,
    readonly found: unknown,
  ) {
    super(expected);
  }
}
