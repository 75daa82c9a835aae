import type { Node } from '../../../apis/core/v1/node.types.js';
import type { FieldError } from '../../../machinery/field-error.js';

/** Broken rules of a new node. */
export function validateNode(_object: Node): FieldError[] {
  return [];
}

/** Broken rules of a changed node. */
export function validateNodeUpdate(object: Node, _old: Node): FieldError[] {
  return validateNode(object);
}
