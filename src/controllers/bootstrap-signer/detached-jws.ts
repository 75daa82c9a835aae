import { createHmac } from 'node:crypto';

/**
 * A detached JWS (RFC 7515, appendix F) over a text, made with HS256 and the full token text as secret. It consists of
 * a header that names the token, an empty payload and the signature (specification 5.8).
 */
export function signDetached(content: string, tokenId: string, tokenText: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: tokenId })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', tokenText).update(`${header}.${payload}`).digest('base64url');
  return `${header}..${signature}`;
}
