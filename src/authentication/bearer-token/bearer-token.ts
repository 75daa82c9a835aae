/**
 * What follows the scheme in an `Authorization: Bearer` header, or undefined when the header has another scheme or says
 * nothing more. The scheme is case-insensitive (RFC 9110 section 11.1).
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const text = withoutBlanks(authorization);
  const end = text.indexOf(' ');
  if (end < 0 || text.slice(0, end).toLowerCase() !== 'bearer') return undefined;
  return withoutBlanks(text.slice(end + 1));
}

/** Not `trim`: that takes other characters for white space too, which are bytes of a value here. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
