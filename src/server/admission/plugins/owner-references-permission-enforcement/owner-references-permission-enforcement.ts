import type { OwnerReference } from '../../../../base/machinery/api-object.js';
import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../../../../base/machinery/authorizer.js';
import { parseApiVersion } from '../../../../base/machinery/group-version.js';
import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import type { ResourceRegistry, ServedResource } from '../../../../objects/registry/resource-registry.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor, refused } from '../../refused.js';

/**
 * Guards owner references (specification 5.5). Changing an object's owners can cause its deletion, so it requires the
 * right to delete the object; to begin or to stop blocking the deletion of an owner requires the right to update the
 * owner's finalizers.
 */
export class OwnerReferencesPermissionEnforcement implements AdmissionPlugin {
  readonly name = 'OwnerReferencesPermissionEnforcement';

  constructor(
    private readonly authorizer: Authorizer,
    private readonly registry: Pick<ResourceRegistry, 'resourcesOf'>,
  ) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    // Node agents write the status of pods, but may not delete them.
    if (isFor(attributes, '', 'pods') && attributes.subresource === 'status') return;
    const owners = attributes.object?.metadata?.ownerReferences ?? [];
    const before = attributes.oldObject?.metadata?.ownerReferences ?? [];
    if (deepEqual(owners, before)) return;
    if (attributes.operation !== 'CREATE') await this.requireDelete(attributes);
    for (const owner of newlyBlocked(owners, before)) await this.requireFinalizers(attributes, owner);
    for (const owner of noLongerBlocked(owners, before)) {
      // Without its kind, an owner has no finalizers that anybody could have a right to.
      if (this.resourcesOf(owner).length > 0) await this.requireFinalizers(attributes, owner);
    }
  }

  private async requireDelete(attributes: AdmissionAttributes): Promise<void> {
    const { resource, subresource, namespace, name } = attributes;
    const asked = this.attributesOf(attributes, { ...resource, verb: 'delete', subresource, namespace, name });
    const denial = await this.denial(asked);
    if (denial === undefined) return;
    throw refused(attributes, `cannot set an ownerRef on a resource you can't delete: ${denial}`);
  }

  private async requireFinalizers(attributes: AdmissionAttributes, owner: OwnerReference): Promise<void> {
    const found = this.resourcesOf(owner);
    if (found.length === 0) {
      const { apiVersion, kind } = owner;
      const mapping = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
      const cause = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
      throw refused(attributes, `cannot set blockOwnerDeletion in this case because ${mapping}: ${cause}`);
    }
    for (const { definition, served } of found) {
      const asked = this.attributesOf(attributes, {
        verb: 'update',
        group: definition.group,
        version: served.version,
        resource: definition.resource,
        subresource: 'finalizers',
        namespace: definition.namespaced ? attributes.namespace : '',
        name: owner.name,
      });
      const denial = await this.denial(asked);
      if (denial === undefined) continue;
      const detail =
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
      throw refused(attributes, `${detail}: ${denial}`);
    }
  }

  private resourcesOf({ apiVersion, kind }: OwnerReference): readonly ServedResource[] {
    const parsed = parseApiVersion(apiVersion);
    if (parsed === undefined) return [];
    return this.registry.resourcesOf(parsed.group, parsed.version).filter(({ definition }) => definition.kind === kind);
  }

  private attributesOf({ userInfo }: AdmissionAttributes, asked: Asked): AuthorizerAttributes {
    const { verb, group, version, resource, subresource, namespace, name } = asked;
    return {
      user: userInfo,
      verb,
      isResourceRequest: true,
      namespace,
      apiGroup: group,
      apiVersion: version,
      resource,
      subresource,
      name,
      path: '',
    };
  }

  /** The reason for a denial, in the form that clients know; undefined when the request is allowed. */
  private async denial(asked: AuthorizerAttributes): Promise<string | undefined> {
    let answer: AuthorizationDecision;
    try {
      answer = await this.authorizer.authorize(asked);
    } catch (error) {
      return `, ${(error as Error).message}`;
    }
    return answer.decision === 'allow' ? undefined : `${answer.reason}, <nil>`;
  }
}

interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const isBlocking = (owner: OwnerReference) => owner.blockOwnerDeletion === true;

/** The references that newly block the deletion of their owner. */
function newlyBlocked(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const known = new Set(before.filter(isBlocking).map(({ uid }) => uid));
  return owners.filter((owner) => isBlocking(owner) && !known.has(owner.uid));
}

/** The references that stay and no longer block the deletion of their owner. */
function noLongerBlocked(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const known = new Set(before.filter(isBlocking).map(({ uid }) => uid));
  return owners.filter((owner) => !isBlocking(owner) && known.has(owner.uid));
}
