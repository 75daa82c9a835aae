import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { canonicalIp, parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';

/** Validates the address of a network interface, including its prefix length. */
export function validateInterfaceAddress(text: string, path: FieldPath): FieldError[] {
  const network = parseIpNetwork(text);
  if (network === undefined) {
    return [invalid(path, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  }
  const canonical = `${canonicalIp(network.address)}/${network.prefix}`;
  return text === canonical ? [] : [invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
