import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../../../base/machinery/group-version.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import type { AdmissionAttributes } from '../../admission/attributes.js';
import { Reinvocation } from '../../admission/reinvocation.js';
import type { ResourceRequest } from '../resource-request.js';

const noOptions: Readonly<Record<string, unknown>> = Object.freeze({});

/** The admission attributes of a connection; its object is the options (specification 5.5). */
export class ConnectAttributes implements AdmissionAttributes {
  readonly operation = 'CONNECT';
  readonly context: RequestContext;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  readonly name: string;
  readonly oldObject = undefined;
  readonly storedOldObject = undefined;
  readonly options = noOptions;
  readonly dryRun = false;
  readonly userInfo: UserInfo;
  readonly reinvocation = new Reinvocation();

  constructor(
    { context, subresource, kind, name }: ResourceRequest,
    public object: ApiObject | undefined,
  ) {
    const { apiGroup: group, apiVersion: version, resource, namespace } = context.requestInfo;
    this.context = context;
    this.resource = { group, version, resource };
    this.subresource = subresource?.name ?? '';
    this.kind = kind;
    this.namespace = namespace;
    this.name = name;
    this.userInfo = context.user as UserInfo;
  }

  get storedObject(): ApiObject | undefined {
    return this.object;
  }

  /** Nothing is written. */
  writeThrough(): void {}
}
