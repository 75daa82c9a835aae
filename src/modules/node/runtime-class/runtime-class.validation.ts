import { isDeepStrictEqual } from 'node:util';
import { validateLabels } from '../../../apis/meta/v1/validation/labels.validation.js';
import type { RuntimeClass } from '../../../apis/node/v1/runtime-class.types.js';
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
} from '../../../machinery/field-error.js';
import { isDns1123Label, isQualifiedName } from '../../../machinery/names.js';
import { quantitySign } from '../../../machinery/values/quantity.js';

type Toleration = NonNullable<NonNullable<RuntimeClass['scheduling']>['tolerations']>[number];

const handlerPath = FieldPath.of('handler');
const schedulingPath = FieldPath.of('scheduling');
const operators = ['Equal', 'Exists'];
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const plainResources = ['cpu', 'memory', 'ephemeral-storage'];

/** Broken rules of a new RuntimeClass. */
export function validateRuntimeClass(object: RuntimeClass): FieldError[] {
  const errors = isDns1123Label(object.handler).map((m) => invalid(handlerPath, object.handler, m));
  for (const [name, amount] of Object.entries(object.overhead?.podFixed ?? {})) validateOverhead(name, amount, errors);
  const { nodeSelector, tolerations = [] } = object.scheduling ?? {};
  errors.push(...validateLabels(nodeSelector, schedulingPath.child('nodeSelector')));
  const tolerationsPath = schedulingPath.child('tolerations');
  for (const [i, toleration] of tolerations.entries()) {
    validateToleration(toleration, tolerationsPath.child('tolerations').index(i), errors);
  }
  for (const [i, toleration] of tolerations.entries()) {
    const isRepeated = tolerations.slice(0, i).some((earlier) => isDeepStrictEqual(earlier, toleration));
    if (isRepeated) errors.push(duplicate(tolerationsPath.index(i), toleration));
  }
  return errors;
}

/** Broken rules of a changed RuntimeClass: pods rely on its handler. */
export function validateRuntimeClassUpdate(object: RuntimeClass, old: RuntimeClass): FieldError[] {
  return object.handler === old.handler ? [] : [invalid(handlerPath, object.handler, 'field is immutable')];
}

function validateOverhead(name: string, amount: string, errors: FieldError[]): void {
  const path = FieldPath.of('overhead', 'limits').key(name);
  const broken = isQualifiedName(name);
  for (const m of broken) errors.push(invalid(path, name, m));
  const isContainerResource = plainResources.includes(name) || name.startsWith('hugepages-') || name.includes('/');
  if (!isContainerResource) {
    if (broken.length === 0) errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'));
    errors.push(invalid(path, name, 'must be a standard resource for containers'));
  }
  if (quantitySign(amount) < 0) errors.push(invalid(path, amount, 'must be greater than or equal to 0'));
}

function validateToleration(toleration: Toleration, path: FieldPath, errors: FieldError[]): void {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  if (key !== '') for (const m of isQualifiedName(key)) errors.push(invalid(path.child('key'), key, m));
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(path.child('operator'), operator, detail));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(invalid(path.child('effect'), effect, detail));
  }
  if (operator === 'Exists') {
    if (value !== '') {
      errors.push(invalid(path.child('operator'), toleration, "value must be empty when `operator` is 'Exists'"));
    }
  } else if (operator !== '' && operator !== 'Equal') {
    errors.push(notSupported(path.child('operator'), operator, operators));
  }
  if (effect !== '' && !effects.includes(effect)) errors.push(notSupported(path.child('effect'), effect, effects));
}
