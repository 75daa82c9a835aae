import { scaledQuantity } from '../../../../base/machinery/values/quantity.js';

/** The warning about a fractional number of bytes; undefined for whole numbers. */
export function fractionalBytes(amount: string | undefined, path: string): string[] {
  if (amount === undefined || scaledQuantity(amount, -3) % 1000n === 0n) return [];
  return [`${path}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
}
