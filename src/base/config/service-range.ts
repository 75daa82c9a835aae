import { parseCidr } from './network.js';

/** The problem with a range for Service addresses, or undefined. Allocation supports at most 2^20 addresses. */
export function serviceRangeProblem(text: string): string | undefined {
  const range = parseCidr(text);
  if (range === undefined) return 'must be an address range such as 10.0.0.0/16';
  const bits = range.family === 4 ? 32 : 128;
  if (bits - range.prefix > 20) return `is too large: the prefix must be /${bits - 20} or longer`;
  return bits - range.prefix < 3 ? `is too small: the prefix must be /${bits - 3} or shorter` : undefined;
}
