/** Thrown when an object in the response of a conversion webhook is not the one that was sent. */
export class ConvertedObjectFault extends Error {
  override readonly name = 'ConvertedObjectFault';
}
