import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import type { DeviceSelector } from '../../../objects/apis/resource/v1/device-selector.types.js';
import { compileDeviceExpression, deviceExpressionCostLimit } from '../../../objects/cel/index.js';
import { validateItems } from './lists.validation.js';

const maxSelectors = 32;
const maxExpressionLength = 10 * 1024;

/** Compiles each expression of one object once, and bounds the work for all of them together. */
export class DeviceExpressions {
  private readonly compiled = new Map<string, ReturnType<typeof compileDeviceExpression>>();

  /** Validates an expression that selects devices. */
  check(expression: string, path: FieldPath): FieldError[] {
    if (expression.length > maxExpressionLength) return [tooLong(path, maxExpressionLength)];
    let result = this.compiled.get(expression);
    if (result === undefined) {
      result = compileDeviceExpression(expression);
      this.compiled.set(expression, result);
    }
    if ('fault' in result) return [invalid(path, expression, result.fault)];
    return result.program.cost.max > deviceExpressionCostLimit
      ? [forbidden(path, 'too complex, exceeds cost limit')]
      : [];
  }
}

/**
 * Validates the selectors of a class or request.
 *
 * @param expressions undefined if the expressions were stored before: then they are not checked
 */
export function validateDeviceSelectors(
  selectors: readonly DeviceSelector[] | undefined,
  path: FieldPath,
  expressions: DeviceExpressions | undefined,
): FieldError[] {
  return validateItems(selectors, maxSelectors, path, ({ cel }, at) => {
    if (cel === undefined) return [required(at.child('cel'))];
    return expressions?.check(cel.expression, at.child('cel').child('expression')) ?? [];
  });
}
