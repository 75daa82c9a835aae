/** A scalar has a value or a tag that can't be read. The message is safe to show to clients. */
export class ScalarError extends Error {
  override readonly name = 'ScalarError';
}
