import { quantityMilliValue, quantityOf, quantityValue } from '../../../../base/machinery/values/quantity.js';
import { ValueFormatError } from '../../../../base/machinery/values/value-format-error.js';

const prefix = 'hugepages-';

/** `hugepages-2Mi` and the like: memory that can't be overcommitted. */
export function isHugePages(name: string): boolean {
  return name.startsWith(prefix);
}

/** Whether an amount is a multiple of the size that the name of the resource ends with. */
export function isWholePages(name: string, amount: string): boolean {
  try {
    const size = quantityOf(name.slice(prefix.length));
    if (quantityValue(size) <= 0 || quantityMilliValue(size) % 1000 !== 0) return false;
    return quantityValue(amount) % quantityValue(size) === 0;
  } catch (error) {
    if (error instanceof ValueFormatError) return false;
    throw error;
  }
}
