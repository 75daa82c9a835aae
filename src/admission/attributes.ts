import type { ApiObject } from '../machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../machinery/group-version.js';
import type { RequestContext, UserInfo } from '../machinery/request-context.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/**
 * What admission decides about (specification 5.5): one phase of one write. Whatever costs a conversion is made when it is
 * asked for.
 */
export interface AdmissionAttributes {
  readonly context: RequestContext;
  readonly operation: AdmissionOperation;
  /** As requested. */
  readonly resource: GroupVersionResource;
  /** Empty when the request is about the resource itself. */
  readonly subresource: string;
  /** Of the objects: as requested, and the subresource's own where it has one (`Scale`, `Binding`). */
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  /** Empty for deletes of a collection, and for a generated name until it is drawn: after the mutating phase. */
  readonly name: string;
  /**
   * What is to be written, in the requested version; unset for deletes. Mutating plugins may change it, or put another
   * canonical object of the kind in its place.
   */
  object: ApiObject | undefined;
  /** The live object in the same form; unset for creates. Not to be changed. */
  readonly oldObject: ApiObject | undefined;
  /**
   * {@link object} in the version that is stored, whatever was requested: for rules about one certain kind. Not to be
   * changed. Kinds that only a subresource has are not stored: then it is the object.
   */
  readonly storedObject: ApiObject | undefined;
  /** {@link oldObject} in the same form. */
  readonly storedOldObject: ApiObject | undefined;
  /** The request's options as an object of the kind that fits the operation (CreateOptions, ...). */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly userInfo: UserInfo;
}
