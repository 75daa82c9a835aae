import type { Endpoints } from '../../../apis/core/v1/endpoints.types.js';
import type { FieldError } from '../../../machinery/field-error.js';

/** Broken rules of endpoints. */
export function validateEndpoints(_object: Endpoints): FieldError[] {
  return [];
}
