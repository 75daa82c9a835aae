import { withoutBlanks } from '../blanks.js';

/**
 * The token in an `Authorization: Bearer` header. Undefined when the header has another scheme or nothing follows it.
 * The scheme is case-insensitive (RFC 9110 section 11.1).
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const text = withoutBlanks(authorization);
  const end = text.indexOf(' ');
  if (end < 0 || text.slice(0, end).toLowerCase() !== 'bearer') return undefined;
  return withoutBlanks(text.slice(end + 1));
}
