import type { ApiObject } from '../../base/machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../../base/machinery/group-version.js';
import type { RequestContext, UserInfo } from '../../base/machinery/request-context.js';
import type { ObjectWriter } from '../../objects/registry/store/store-options.js';
import type { Reinvocation } from './reinvocation.js';

/** CONNECT is for requests that open a stream to an object (exec, attach, port-forward, proxy). */
export const admissionOperations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
export type AdmissionOperation = (typeof admissionOperations)[number];

/**
 * The attributes by which admission decides (specification 5.5), for one phase of one write. Fields that need a
 * conversion are computed on demand.
 */
export interface AdmissionAttributes {
  readonly context: RequestContext;
  readonly operation: AdmissionOperation;
  /** The requested resource. */
  readonly resource: GroupVersionResource;
  /** Empty when the request is for the resource itself. */
  readonly subresource: string;
  /** The kind of the objects: the requested kind, or the subresource's own kind if it has one (`Scale`, `Binding`). */
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  /**
   * Empty for deletes of a collection. A generated name is empty during the mutating phase, since it is generated
   * afterwards.
   */
  readonly name: string;
  /**
   * The object to be written, in the requested version; unset for deletes. Mutating plugins may change it or replace it
   * with another canonical object of the kind.
   */
  object: ApiObject | undefined;
  /** The live object in the same form; unset for creates. Plugins must not change it. */
  readonly oldObject: ApiObject | undefined;
  /**
   * {@link object} in the stored version, whatever version was requested, for rules about a particular kind. Plugins
   * must not change it. Kinds that exist only as a subresource are never stored; for them this is the object itself.
   */
  readonly storedObject: ApiObject | undefined;
  /** {@link oldObject} in the stored version. */
  readonly storedOldObject: ApiObject | undefined;
  /** The request's options, as an object of the kind for the operation (CreateOptions, ...). */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly userInfo: UserInfo;
  /** The second round of the mutating phase. */
  readonly reinvocation: Reinvocation;
  /**
   * Sends the write through a writer, which combines it with other writes. Only a validating plugin may request this,
   * for a create or an update of a stored object. It has no effect on a dry run.
   */
  writeThrough(writer: ObjectWriter): void;
}
