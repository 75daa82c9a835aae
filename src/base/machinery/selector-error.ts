/** An invalid selector or requirement. The message is for the client. */
export class SelectorError extends Error {}

/** The error of one requirement that can't be used. */
export function requirementError(detail: string): SelectorError {
  return new SelectorError(`unable to parse requirement: ${detail}`);
}
