/** Text or a number that is no value of its type. The message is fit for a client and names no field. */
export class ValueFormatError extends Error {
  override readonly name = 'ValueFormatError';
}
