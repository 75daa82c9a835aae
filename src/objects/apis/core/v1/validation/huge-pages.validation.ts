import { type FieldError, type FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import { quantityMilliValue, quantityOf, quantityValue } from '../../../../../base/machinery/values/quantity.js';
import { ValueFormatError } from '../../../../../base/machinery/values/value-format-error.js';
import type { PodSpec } from '../pod-spec.types.js';
import { isHugePages } from './resources.validation.js';

/**
 * Checks that the containers of a new pod request whole huge pages. Not meant for templates, nor for pods that were
 * stored before this rule: they may request parts of pages.
 */
export function validateHugePages(spec: PodSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    spec[field]?.forEach(({ resources }, i) => {
      for (const part of ['limits', 'requests'] as const) {
        for (const [name, amount] of Object.entries(resources[part] ?? {})) {
          if (!isHugePages(name) || isWholePages(name, amount)) continue;
          const at = path.child(field).index(i).child('resources').child(part).key(name);
          errors.push(invalid(at, amount, `${amount} is not positive integer multiple of ${name}`));
        }
      }
    });
  }
  return errors;
}

/** Whether an amount is a multiple of the size that the name of the resource ends with. */
function isWholePages(name: string, amount: string): boolean {
  try {
    const size = quantityOf(name.slice('hugepages-'.length));
    if (quantityValue(size) <= 0 || quantityMilliValue(size) % 1000 !== 0) return false;
    return quantityValue(amount) % quantityValue(size) === 0;
  } catch (error) {
    if (error instanceof ValueFormatError) return false;
    throw error;
  }
}
