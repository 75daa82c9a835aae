import { scaledQuantity } from '../../../../base/machinery/values/quantity.js';

/** Amounts that need no arithmetic to be known as whole: nearly all that people write. */
const plainlyWhole = /^[0-9]{1,15}(?:[KMGTPE]i|[kMGTPE])?$/;

/** The warning about a fractional number of bytes; none for whole numbers. */
export function fractionalBytes(amount: string | undefined, path: string): string[] {
  if (amount === undefined || plainlyWhole.test(amount) || scaledQuantity(amount, -3) % 1000n === 0n) return [];
  return [`${path}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
}
