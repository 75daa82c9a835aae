import type { ApiObject } from '../../machinery/api-object.js';
import type { FieldError } from '../../machinery/field-error.js';
import type { RequestContext } from '../../machinery/request-context.js';
import type { SubresourceDefinition } from '../../registry/resource-definition.js';

/** What a status path does for a kind whose spec and status are told apart. */
export interface StatusRules<T extends ApiObject> {
  /** After the spec was carried over; may change `object`. */
  readonly prepare?: (object: T, old: T) => void;
  readonly validate?: (object: T, old: T) => FieldError[];
}

/**
 * `status` of the kinds of the core group: the spec stays as it is, metadata may change (node agents keep labels and
 * annotations of their node through this path).
 */
export function statusSubresource<T extends ApiObject>(rules: StatusRules<T> = {}): SubresourceDefinition {
  return {
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    prepareForUpdate: (_context: RequestContext, object: ApiObject, old: ApiObject) => {
      keepField(object, old, 'spec');
      rules.prepare?.(object as T, old as T);
    },
    validateUpdate: (_context: RequestContext, object: ApiObject, old: ApiObject) =>
      rules.validate?.(object as T, old as T) ?? [],
  };
}

/** Puts the value of the live object back, absence included. */
export function keepField(object: ApiObject, old: ApiObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}
