import { serviceRangesOf } from '../machinery/service-ranges.js';
import { type AddressRange, parseCidr } from './network.js';

/** The first range for Service addresses, which has the address of the API and that of the name server. */
export function firstServiceRange(text: string): AddressRange | undefined {
  return parseCidr(serviceRangesOf(text)[0] ?? '');
}

/** The problem with the ranges for Service addresses, or undefined. Allocation supports at most 2^20 addresses in each. */
export function serviceRangeProblem(text: string): string | undefined {
  const ranges = serviceRangesOf(text).map(parseCidr);
  const known = ranges.filter((range) => range !== undefined);
  if (known.length < ranges.length) return 'must be an address range such as 10.0.0.0/16, or one of each IP family';
  const families = new Set(known.map(({ family }) => family));
  if (families.size < known.length) return 'may have one range for IPv4 and one for IPv6';
  return known.map(sizeProblem).find((problem) => problem !== undefined);
}

function sizeProblem({ family, prefix }: AddressRange): string | undefined {
  const bits = family === 4 ? 32 : 128;
  if (bits - prefix > 20) return `is too large: the prefix must be /${bits - 20} or longer`;
  return bits - prefix < 3 ? `is too small: the prefix must be /${bits - 3} or shorter` : undefined;
}
