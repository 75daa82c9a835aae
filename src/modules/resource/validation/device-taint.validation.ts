import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { validateLabelName } from '../../../base/machinery/label-rules.js';
import { isValidLabelValue } from '../../../base/machinery/names.js';
import type { DeviceTaint, DeviceToleration } from '../../../objects/apis/resource/v1/device-taint.types.js';
import { declared } from './declared.js';

const effects = ['NoExecute', 'NoSchedule', 'None'];
const operators = ['Equal', 'Exists'];

/** Validates a taint. An unchanged effect is not checked. */
export function validateDeviceTaint(taint: DeviceTaint, path: FieldPath, old?: DeviceTaint): FieldError[] {
  const errors = validateLabelName(taint.key, path.child('key'));
  errors.push(...validateLabelValue(taint.value ?? '', path.child('value')));
  if (old?.effect === taint.effect) return errors;
  return [...errors, ...declared(effectErrors(taint.effect, path.child('effect')))];
}

/** Validates a toleration. */
export function validateDeviceToleration(toleration: DeviceToleration, path: FieldPath): FieldError[] {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  const errors = key === '' ? [] : declared(validateLabelName(key, path.child('key')));
  if (operator === 'Exists') {
    if (value !== '') errors.push(invalid(path.child('value'), value, 'must be empty for operator `Exists`'));
  } else if (operator === 'Equal') errors.push(...validateLabelValue(value, path.child('value')));
  else if (operator === '') errors.push(...declared([required(path.child('operator'))]));
  else errors.push(...declared([notSupported(path.child('operator'), operator, operators)]));
  return effect === '' ? errors : [...errors, ...declared(effectErrors(effect, path.child('effect')))];
}

function effectErrors(effect: string, path: FieldPath): FieldError[] {
  if (effect === '') return [required(path)];
  return effects.includes(effect) ? [] : [notSupported(path, effect, effects)];
}

function validateLabelValue(value: string, path: FieldPath): FieldError[] {
  return isValidLabelValue(value).map((message) => invalid(path, value, message));
}
