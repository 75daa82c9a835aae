import { type FieldError, FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import { quantityMilliValue, quantityOf, quantityValue } from '../../../../../base/machinery/values/quantity.js';
import { ValueFormatError } from '../../../../../base/machinery/values/value-format-error.js';
import type { PodSpec } from '../pod-spec.types.js';
import type { ResourceRequirements } from '../resources.types.js';
import type { PodValidationOptions } from './common.validation.js';
import { isHugePages } from './resources.validation.js';

/**
 * Checks that a new pod or template requests whole huge pages. Not meant for pods that were stored before this rule:
 * they may request parts of pages.
 */
export function validateHugePages(spec: PodSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.resources !== undefined) checkPages(spec.resources, path.child('resources'), errors);
  for (const field of ['initContainers', 'containers'] as const) {
    spec[field]?.forEach(({ resources }, i) => {
      checkPages(resources, path.child(field).index(i).child('resources'), errors);
    });
  }
  return errors;
}

/** The options for an update of a template: one that requests parts of huge pages may continue to do so. */
export function updateOptions(options: PodValidationOptions, old: PodSpec | undefined): PodValidationOptions {
  const asksForWhole = old === undefined || validateHugePages(old, FieldPath.of('spec')).length === 0;
  return asksForWhole ? options : { ...options, allowsPartPages: true };
}

function checkPages(resources: ResourceRequirements, path: FieldPath, errors: FieldError[]): void {
  for (const part of ['limits', 'requests'] as const) {
    for (const [name, amount] of Object.entries(resources[part] ?? {})) {
      if (!isHugePages(name) || isWholePages(name, amount)) continue;
      const detail = `${amount} is not positive integer multiple of ${name}`;
      errors.push(invalid(path.child(part).key(name), amount, detail));
    }
  }
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
