import { createHmac } from 'node:crypto';

/**
 * A detached JWS (RFC 7515, appendix F) over a string, made with HS256. It consists of a header that names the token,
 * an empty payload and the signature (specification 5.8).
 *
 * @param key the full token, or the token's secret alone where clients of upstream's tools verify
 */
export function signDetached(content: string, tokenId: string, key: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: tokenId })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url');
  return `${header}..${signature}`;
}
