import { createHmac, timingSafeEqual } from 'node:crypto';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import { isEntry } from '../../../../base/outgoing/client-config-document.js';
import type { TokenText } from '../token/token-text.js';

/** Far longer than the header of any signature of a token. */
const mostHeaderCharacters = 1024;

/**
 * Verifies that the signer of a text has a token (specification 5.8): a detached JWS, made with HS256 and nothing else,
 * for the id of this token. The key is the whole token, or its secret part alone as upstream's servers sign.
 *
 * @throws StartupError when the text can't be trusted; the message does not contain the token's secret
 */
export function verifySignature(signature: string, text: string, token: TokenText): void {
  const fault = (problem: string) =>
    new StartupError(`the information of the cluster can't be trusted: its signature ${problem}`);
  const [head = '', payload, mac = '', ...more] = signature.split('.');
  if (payload !== '' || mac === '' || more.length > 0) throw fault('is not a detached JWS');
  const header = readHeader(head);
  if (header === undefined) throw fault('has a header that cannot be read');
  if (header.alg !== 'HS256') throw fault('is not made with HS256');
  if (header.kid !== token.id) throw fault('is that of another token');
  // An extension that must be understood: none is.
  if ('crit' in header) throw fault('needs an extension');
  const signed = `${head}.${Buffer.from(text).toString('base64url')}`;
  const given = Buffer.from(mac, 'base64url');
  const isCanonical = given.toString('base64url') === mac;
  const matches = [token.toString(), token.secret].map((key) => {
    const own = createHmac('sha256', key).update(signed).digest();
    return own.length === given.length && timingSafeEqual(own, given);
  });
  if (!isCanonical || !matches.includes(true)) throw fault('is wrong: it was made with another token');
}

function readHeader(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > mostHeaderCharacters) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
