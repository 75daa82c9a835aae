/** Text or a number that is not a value of its type. The message is fit for clients and names no field. */
export class ValueFormatError extends Error {
  override readonly name = 'ValueFormatError';
}
