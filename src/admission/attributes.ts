import type { ApiObject } from '../machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../machinery/group-version.js';
import type { RequestContext, UserInfo } from '../machinery/request-context.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What admission decides about (specification 5.5). `object` may be changed by mutating plugins only. */
export interface AdmissionAttributes {
  readonly context: RequestContext;
  readonly operation: AdmissionOperation;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  readonly name: string;
  /** The object to be written; unset for deletes. */
  readonly object: ApiObject | undefined;
  /** The live object; unset for creates. */
  readonly oldObject: ApiObject | undefined;
  /** The request's own options (CreateOptions, ...), as the client sent them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly userInfo: UserInfo;
}
