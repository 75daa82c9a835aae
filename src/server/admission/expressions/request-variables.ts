import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../../../base/machinery/group-version.js';
import type { CelJsonObject, Value } from '../../../objects/cel/index.js';
import type { AdmissionAttributes } from '../attributes.js';

/** A request as an expression sees it. */
export interface ExpressionInput {
  readonly attributes: Omit<AdmissionAttributes, 'object' | 'oldObject'>;
  /** The resource and the kind that the rules matched; the objects are of this version. */
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
}

/** Values of `object`, `oldObject` and `request`. The objects are not copied. */
export function requestVariables(input: ExpressionInput): Readonly<Record<'object' | 'oldObject' | 'request', Value>> {
  return {
    object: (input.object ?? null) as Value,
    oldObject: (input.oldObject ?? null) as Value,
    request: requestOf(input),
  };
}

function requestOf({ attributes, resource, kind }: ExpressionInput): CelJsonObject {
  const { userInfo, subresource } = attributes;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    subResource: subresource,
    requestKind: { ...attributes.kind },
    requestResource: { ...attributes.resource },
    requestSubResource: subresource,
    name: attributes.name,
    namespace: attributes.namespace,
    operation: attributes.operation,
    userInfo: {
      username: userInfo.name,
      uid: userInfo.uid,
      groups: userInfo.groups,
      extra: userInfo.extra,
    },
    dryRun: attributes.dryRun,
    options: attributes.options,
  };
}
