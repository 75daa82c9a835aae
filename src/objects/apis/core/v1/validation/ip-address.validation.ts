import { type FieldError, type FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import { canonicalIp, type IpFamily, ipFamily } from '../../../networking/v1/validation/ip-network.js';

/** The message for a string that is not an IP address. */
export const badIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** The message for an IPv4 address in the form of an IPv6 one. */
const mappedIp = 'must not be an IPv4-mapped IPv6 address';

/** Validates an IP address. */
export function validateIp(text: string, path: FieldPath): FieldError[] {
  const problem = ipProblem(text);
  return problem === undefined ? [] : [invalid(path, text, problem)];
}

/**
 * Validates an IP address that every program reads alike: not an IPv4 address in the form of an IPv6 one.
 *
 * @param known addresses that the object has already: they may be spelt as no new address may
 */
export function validatePlainIp(text: string, path: FieldPath, known: readonly (string | undefined)[]): FieldError[] {
  const errors = validateIp(text, path);
  if (errors.length > 0 || known.includes(text) || !isMappedIp(text)) return errors;
  return [invalid(path, text, mappedIp)];
}

/** The reason why a string is not an IP address; undefined if it is one. */
export function ipProblem(text: string): string | undefined {
  if (ipFamily(text) !== undefined) return undefined;
  return hasLeadingZeros(text) ? 'must not have leading 0s' : badIp;
}

/** The family of an address as programs read it that allow leading zeros, and an IPv4 address in the form of an IPv6 one. */
export function sloppyIpFamily(text: string): IpFamily | undefined {
  return isMappedIp(text) || hasLeadingZeros(text) ? 'ipv4' : ipFamily(text);
}

/**
 * Whether a string is not an IPv4 address only because of leading zeros in its numbers: some programs read those as
 * octal.
 */
function hasLeadingZeros(text: string): boolean {
  const plain = withoutLeadingZeros(text);
  return plain !== text && ipFamily(plain) === 'ipv4';
}

function withoutLeadingZeros(text: string): string {
  return text.replaceAll(/\b0+(?=\d)/g, '');
}

/** Whether an address is an IPv4 one in the form of an IPv6 one. */
function isMappedIp(text: string): boolean {
  const canonical = canonicalIp(text);
  return canonical?.startsWith('::ffff:') === true && canonical.includes('.');
}

/** Validates an address that receives traffic. Addresses with a special meaning, such as loopback, are refused. */
export function validateNonSpecialIp(text: string, path: FieldPath): FieldError[] {
  const ip = canonicalIp(hasLeadingZeros(text) ? withoutLeadingZeros(text) : text);
  if (ip === undefined) return [invalid(path, text, 'must be a valid IP address')];
  // An IPv4-mapped IPv6 address counts as its IPv4 address.
  const plain = /^::ffff:\d+\.\d+\.\d+\.\d+$/.test(ip) ? ip.slice(7) : ip;
  const reasons: string[] = [];
  if (plain === '0.0.0.0' || plain === '::') reasons.push(`may not be unspecified (${plain})`);
  if (plain.startsWith('127.') || plain === '::1')
    reasons.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (plain.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(plain)) {
    reasons.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (plain.startsWith('224.0.0.') || /^ff02:/.test(plain)) {
    reasons.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return reasons.map((reason) => invalid(path, text, reason));
}
