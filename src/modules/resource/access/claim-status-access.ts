import { type Authorizer, type AuthorizerAttributes, attributesOf } from '../../../base/machinery/authorizer.js';
import { type FieldError, FieldPath, forbidden } from '../../../base/machinery/field-error.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type {
  AllocatedDeviceStatus,
  ResourceClaimStatus,
} from '../../../objects/apis/resource/v1/resource-claim.types.js';

const statusPath = FieldPath.of('status');

/**
 * Checks who may write which part of a claim's status, beyond the right to write the status: users who allocate must
 * have the right to write `resourceclaims/binding`, and those who write the status of devices the right to write
 * `resourceclaims/driver` for that driver, on any node or on the node of their service account.
 */
export class ClaimStatusAccess {
  constructor(
    private readonly authorizer: Authorizer,
    private readonly credentialPrefix: string,
  ) {}

  async check(context: RequestContext, status: ResourceClaimStatus, old: ResourceClaimStatus): Promise<FieldError[]> {
    const errors: FieldError[] = [];
    if (!deepEqual(status.allocation, old.allocation) || !deepEqual(status.reservedFor, old.reservedFor)) {
      errors.push(...(await this.checkBinding(context)));
    }
    if (status.allocation !== undefined) errors.push(...(await this.checkDrivers(context, status, old)));
    return errors;
  }

  private async checkBinding(context: RequestContext): Promise<FieldError[]> {
    const { verb } = context.requestInfo;
    const refusal = await this.refusal(context, { subresource: 'binding', namespace: '', name: '' });
    if (refusal === undefined) return [];
    const detail = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${refusal}`;
    return [forbidden(statusPath.child('allocation'), detail)];
  }

  private async checkDrivers(
    context: RequestContext,
    status: ResourceClaimStatus,
    old: ResourceClaimStatus,
  ): Promise<FieldError[]> {
    const { verb } = context.requestInfo;
    const node = onlyNode(status);
    const isLocal = node !== undefined && this.nodeOf(context) === node;
    const verbs = isLocal ? [`associated-node:${verb}`, `arbitrary-node:${verb}`] : [`arbitrary-node:${verb}`];
    const errors: FieldError[] = [];
    for (const driver of changedDrivers(status.devices ?? [], old.devices ?? [])) {
      let refusal: string | undefined;
      for (const each of verbs) {
        const asked = await this.refusal(context, { verb: each, subresource: 'driver', name: driver });
        refusal = asked === undefined ? undefined : (refusal ?? asked);
        if (asked === undefined) break;
      }
      if (refusal === undefined) continue;
      const detail = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${refusal}`;
      errors.push(forbidden(statusPath.child('devices'), detail));
    }
    return errors;
  }

  /** Why the user may not do something; undefined if the user may do it. */
  private async refusal(context: RequestContext, asked: Partial<AuthorizerAttributes>): Promise<string | undefined> {
    const { user } = context;
    if (user === undefined) return undefined;
    const attributes = { ...attributesOf(user, context.requestInfo), ...asked };
    const { decision, reason } = await this.authorizer.authorize(attributes);
    if (decision === 'allow') return undefined;
    const { apiGroup, resource, subresource, namespace, name, verb } = attributes;
    const subject = name === '' ? '' : ` "${name}"`;
    const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
    const full = formatGroupResource({ group: apiGroup, resource });
    const tail = reason === '' ? '' : `: ${reason}`;
    return `${full}${subject} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}/${subresource}" in API group "${apiGroup}" ${scope}${tail}`;
  }

  /**
   * The node in the credentials of a service account; undefined for other users and for accounts that are not bound to
   * a node.
   */
  private nodeOf({ user }: RequestContext): string | undefined {
    if (user?.name.startsWith('system:serviceaccount:') !== true) return undefined;
    const nodes = user.extra?.[`${this.credentialPrefix}/node-name`] ?? [];
    return nodes.length === 1 ? nodes[0] : undefined;
  }
}

/** The node of the devices, if they can be reached from only one node. */
function onlyNode({ allocation }: ResourceClaimStatus): string | undefined {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [term] = terms;
  if (terms.length !== 1 || (term?.matchExpressions ?? []).length > 0 || term?.matchFields?.length !== 1)
    return undefined;
  const [field] = term.matchFields;
  const isName = field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1;
  return isName ? field.values?.[0] : undefined;
}

function changedDrivers(
  devices: readonly AllocatedDeviceStatus[],
  old: readonly AllocatedDeviceStatus[],
): readonly string[] {
  const before = new Map(old.map((device) => [keyOf(device), device]));
  const drivers = new Set<string>();
  for (const device of devices) {
    const key = keyOf(device);
    if (!deepEqual(before.get(key), device)) drivers.add(device.driver);
    before.delete(key);
  }
  for (const { driver } of before.values()) drivers.add(driver);
  return [...drivers].sort();
}

function keyOf({ driver, pool, device, shareID = '' }: AllocatedDeviceStatus): string {
  return JSON.stringify([driver, pool, device, shareID]);
}
