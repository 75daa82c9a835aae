import { ValueFormatError } from './value-format-error.js';

const alphabet = /^[A-Za-z0-9+/]*={0,2}$/;
const lineBreaks = /[\r\n]/g;

/** The index at which Go's decoder fails: at an illegal character, or at the beginning of an incomplete group. */
function illegalByte(text: string): number {
  const letter = text.search(/[^A-Za-z0-9+/=]|=(?!=?$)/);
  return letter >= 0 ? letter : text.length - (text.length % 4);
}

/**
 * Standard base64 with padding, without line breaks and with unused bits cleared.
 *
 * @throws {ValueFormatError} for invalid text.
 */
export function canonicalBase64(text: string): string {
  const joined = text.includes('\n') || text.includes('\r') ? text.replace(lineBreaks, '') : text;
  if (joined.length % 4 !== 0 || !alphabet.test(joined)) {
    throw new ValueFormatError(`illegal base64 data at input byte ${illegalByte(joined)}`);
  }
  if (!joined.endsWith('=')) return joined;
  const lastGroup = joined.slice(-4);
  const cleared = Buffer.from(lastGroup, 'base64').toString('base64');
  return cleared === lastGroup ? joined : joined.slice(0, -4) + cleared;
}
