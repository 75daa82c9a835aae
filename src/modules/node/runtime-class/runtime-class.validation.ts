import { duplicate, type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { validateLabels } from '../../../base/machinery/label-rules.js';
import { isDns1123Label } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { validateResourceRequirements } from '../../../objects/apis/core/v1/validation/resources.validation.js';
import { validateTolerations } from '../../../objects/apis/core/v1/validation/scheduling.validation.js';
import type { RuntimeClass } from '../../../objects/apis/node/v1/runtime-class.types.js';

const handlerPath = FieldPath.of('handler');
const schedulingPath = FieldPath.of('scheduling');

/** Validates a new RuntimeClass. */
export function validateRuntimeClass(object: RuntimeClass, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  const limits = object.overhead?.podFixed;
  if (limits !== undefined) validateResourceRequirements({ limits }, FieldPath.of('overhead'), { names }, errors);
  const { nodeSelector, tolerations = [] } = object.scheduling ?? {};
  errors.push(...validateLabels(nodeSelector, schedulingPath.child('nodeSelector')));
  const tolerationsPath = schedulingPath.child('tolerations');
  validateTolerations(tolerations, tolerationsPath, errors);
  const seen = new Set<string>();
  for (const [i, toleration] of tolerations.entries()) {
    // Decoded values have their fields in a fixed order.
    const text = JSON.stringify(toleration);
    if (seen.has(text)) errors.push(duplicate(tolerationsPath.index(i), toleration));
    seen.add(text);
  }
  if (object.handler === '') errors.push(required(handlerPath));
  else {
    for (const m of isDns1123Label(object.handler)) {
      errors.push(invalid(handlerPath, object.handler, m.replace('63 characters', '63 bytes')));
    }
  }
  return errors;
}

/** Validates a changed RuntimeClass: pods rely on its handler. */
export function validateRuntimeClassUpdate(object: RuntimeClass, old: RuntimeClass, names: VendorNames): FieldError[] {
  const errors = object.handler === old.handler ? [] : [invalid(handlerPath, null, 'field is immutable')];
  return [...validateRuntimeClass(object, names), ...errors];
}
