/** A string or number that is not a value of its type. The message is safe to show to clients and names no field. */
export class ValueFormatError extends Error {
  override readonly name = 'ValueFormatError';
}
