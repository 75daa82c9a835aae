import { type FieldError, type FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import { canonicalNetwork, type IpNetwork, parseIpNetwork } from './ip-network.js';

const badCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/**
 * Validates a CIDR that other programs read; refuses spellings that programs may read differently.
 *
 * @param isCanonical whether only the one canonical spelling is accepted
 */
export function validateCidr(text: string, path: FieldPath, isCanonical = false): FieldError[] {
  const network = parseIpNetwork(text);
  if (network === undefined) {
    const detail = isZeroPadded(text) ? 'must not have leading 0s in IP or prefix length' : badCidr;
    return [invalid(path, text, detail)];
  }
  if (isMapped(network)) return [invalid(path, text, 'must not have an IPv4-mapped IPv6 address')];
  const canonical = canonicalNetwork(network);
  if (canonical === text) return [];
  if (hasBitsBeyond(network)) return [invalid(path, text, 'must not have bits set beyond the prefix length')];
  return isCanonical ? [invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)] : [];
}

function hasBitsBeyond(network: IpNetwork): boolean {
  const addressOf = (prefix: number) => canonicalNetwork({ ...network, prefix }).split('/')[0];
  return addressOf(network.prefix) !== addressOf(network.family === 'ipv4' ? 32 : 128);
}

function isMapped({ address, family }: IpNetwork): boolean {
  return family === 'ipv6' && /^(?:0*:)*:?ffff:\d+\.\d+\.\d+\.\d+$/i.test(address);
}

/** Whether a string is not a CIDR only because of leading zeros in its numbers: some programs read those as octal. */
function isZeroPadded(text: string): boolean {
  const plain = text.includes(':') ? text.replace(/\/0+(?=\d)/, '/') : text.replaceAll(/\b0+(?=\d)/g, '');
  return plain !== text && parseIpNetwork(plain) !== undefined;
}
