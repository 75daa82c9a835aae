/**
 * The token of an `Authorization: Bearer` header, or undefined when the header has another scheme. The scheme is
 * case-insensitive (RFC 9110 section 11.1); a token with spaces inside is none.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const parts = authorization.trim().split(' ');
  if (parts.length !== 2 || (parts[0] as string).toLowerCase() !== 'bearer') return undefined;
  return parts[1] as string;
}
