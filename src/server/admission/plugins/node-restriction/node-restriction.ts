import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import { nodeNameOf } from '../../../../base/machinery/node-identity.js';
import { forbiddenError, notFoundError } from '../../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { mirrorPodProblem } from './mirror-pod.js';
import { NodeLabels } from './node-labels.js';
import { PodCertificates } from './pod-certificates.js';
import type { ReadNode, ReadPod, ReadTokenRequest } from './read-objects.js';
import { TokenAudiences } from './token-audiences.js';

const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };

/** The problem with a write; undefined when there is none. */
type Problem = string | undefined;
type Rule = (node: string, attributes: AdmissionAttributes) => Problem | Promise<Problem>;

/**
 * Restricts node agents to their own Node and the pods bound to it (specification 5.5). These rules depend on the
 * objects, which the authorization mode `Node` can't see. Runs on the final object, after all changes by other plugins.
 */
export class NodeRestriction implements AdmissionPlugin {
  readonly name = 'NodeRestriction';
  private readonly labels: NodeLabels;
  private readonly audiences: TokenAudiences;
  private readonly rules: ReadonlyMap<string, Rule>;

  constructor(
    private readonly names: VendorNames,
    private readonly reader: ObjectReader,
    authorizer: Authorizer,
  ) {
    this.labels = new NodeLabels(names);
    this.audiences = new TokenAudiences(names, reader, authorizer);
    const certificates = new PodCertificates(names, reader, authorizer);
    const certificateRequests = `podcertificaterequests.${groupName('certificates', names)}`;
    const storage = groupName('storage', names);
    const coordination = groupName('coordination', names);
    this.rules = new Map<string, Rule>([
      ['pods', (node, attributes) => this.podProblem(node, attributes)],
      ['nodes', (node, attributes) => this.nodeProblem(node, attributes)],
      ['persistentvolumeclaims', claimProblem],
      ['serviceaccounts', (node, attributes) => this.tokenProblem(node, attributes)],
      [`leases.${coordination}`, (node, attributes) => this.leaseProblem(node, attributes)],
      [certificateRequests, (node, attributes) => certificates.problem(node, attributes)],
      [`resourceslices.${groupName('resource', names)}`, sliceProblem],
      [`csinodes.${storage}`, (node, attributes) => ownNameProblem(node, attributes, 'CSINode')],
    ]);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE' || operation === 'DELETE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const node = nodeNameOf(attributes.userInfo);
    if (node === undefined) return;
    const { resource, userInfo, name } = attributes;
    const refuse = (problem: string) => forbiddenError(resource, name || 'Unknown', problem);
    if (node === '') throw refuse(`could not determine node from user ${JSON.stringify(userInfo.name)}`);
    const rule = this.rules.get(resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`);
    const problem = await rule?.(node, attributes);
    if (problem !== undefined) throw refuse(problem);
  }

  private podProblem(node: string, attributes: AdmissionAttributes): Problem | Promise<Problem> {
    const { operation, subresource } = attributes;
    const quoted = JSON.stringify(node);
    switch (subresource) {
      case '':
        if (operation === 'CREATE') return this.newPodProblem(node, attributes);
        if (operation === 'DELETE') {
          if (isOnNode(attributes.oldObject, node)) return undefined;
          return `node ${quoted} can only delete pods with spec.nodeName set to itself`;
        }
        return `unexpected operation "${operation}", node ${quoted} can only create and delete mirror pods`;
      case 'status':
        if (operation !== 'UPDATE') return `unexpected operation "${operation}"`;
        return podStatusProblem(node, attributes);
      case 'eviction':
        if (operation !== 'CREATE') return `unexpected operation ${operation}`;
        return this.evictionProblem(node, attributes);
      default:
        return `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`;
    }
  }

  private async newPodProblem(name: string, { object }: AdmissionAttributes): Promise<Problem> {
    const problem = mirrorPodProblem(name, object as ReadPod, this.names);
    if (problem !== undefined) return problem;
    const uid = object?.metadata.ownerReferences?.[0]?.uid;
    const node = await this.reader.read(nodes, '', name);
    if (node === undefined) throw notFoundError(nodes, name);
    if (uid === node.metadata.uid) return undefined;
    return `node ${name} UID mismatch: expected ${uid} got ${node.metadata.uid}`;
  }

  private async evictionProblem(node: string, { namespace, name }: AdmissionAttributes): Promise<Problem> {
    const pod = await this.readPod(namespace, name);
    return isOnNode(pod, node) ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
  }

  private nodeProblem(node: string, { operation, object, oldObject, name }: AdmissionAttributes): Problem {
    const quoted = JSON.stringify(node);
    const spec = (object as ReadNode | undefined)?.spec ?? {};
    if (operation === 'CREATE') {
      if (spec.configSource) return `node ${quoted} is not allowed to create nodes with a non-nil configSource`;
      const labels = this.labels.forbiddenChanges(object?.metadata.labels, undefined);
      if (labels.length > 0) return `node ${quoted} is not allowed to set the following labels: ${labels.join(', ')}`;
    }
    if (name !== node) return `node ${quoted} is not allowed to modify node ${JSON.stringify(name)}`;
    if (operation === 'DELETE') return `node ${quoted} is not allowed to delete its node`;
    if (operation !== 'UPDATE') return undefined;
    const before = (oldObject as ReadNode).spec ?? {};
    if (spec.configSource && !isDeepStrictEqual(spec.configSource, before.configSource)) {
      return `node ${quoted} is not allowed to update configSource to a new non-nil configSource`;
    }
    if (!isDeepStrictEqual(spec.taints ?? [], before.taints ?? [])) {
      return `node ${quoted} is not allowed to modify taints`;
    }
    const labels = this.labels.forbiddenChanges(object?.metadata.labels, oldObject?.metadata.labels);
    if (labels.length > 0) return `is not allowed to modify labels: ${labels.join(', ')}`;
    // If the node had an owner that does not exist, the garbage collector would delete the node.
    const owners = [object, oldObject].map((each) => each?.metadata.ownerReferences ?? []);
    if (!isDeepStrictEqual(owners[0], owners[1])) return `node ${quoted} is not allowed to modify ownerReferences`;
    return undefined;
  }

  private async tokenProblem(node: string, attributes: AdmissionAttributes): Promise<Problem> {
    if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return undefined;
    const reference = (attributes.object as ReadTokenRequest).spec.boundObjectRef;
    if (reference?.apiVersion !== 'v1' || reference.kind !== 'Pod' || !reference.name) {
      return 'node requested token not bound to a pod';
    }
    if (!reference.uid) return 'node requested token with a pod binding without a uid';
    const pod = await this.readPod(attributes.namespace, reference.name);
    if (pod.metadata.uid !== reference.uid) {
      return `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    }
    if (!isOnNode(pod, node)) return 'node requested token bound to a pod scheduled on a different node';
    return this.audiences.problem(attributes, pod as ReadPod);
  }

  private leaseProblem(node: string, attributes: AdmissionAttributes): Problem {
    const { nodeLeaseNamespace } = this.names;
    if (attributes.namespace !== nodeLeaseNamespace) {
      return `can only access leases in the ${JSON.stringify(nodeLeaseNamespace)} system namespace`;
    }
    return ownNameProblem(node, attributes, 'node lease');
  }

  private async readPod(namespace: string, name: string): Promise<ApiObject> {
    const pod = await this.reader.read(pods, namespace, name);
    if (pod === undefined) throw notFoundError(pods, name);
    return pod;
  }
}

function isOnNode(pod: ApiObject | undefined, node: string): boolean {
  return (pod as ReadPod | undefined)?.spec?.nodeName === node;
}

function podStatusProblem(node: string, { object, oldObject }: AdmissionAttributes): Problem {
  if (!isOnNode(oldObject, node)) {
    return `node ${JSON.stringify(node)} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!isDeepStrictEqual(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {})) {
    return `node ${JSON.stringify(node)} cannot update labels through pod status`;
  }
  // The statuses name the resource claims that the pod uses: otherwise a node could gain access to other claims.
  if (!isDeepStrictEqual(claimStatuses(object), claimStatuses(oldObject))) {
    return `node ${JSON.stringify(node)} cannot update resource claim statuses`;
  }
  if (!isDeepStrictEqual(extendedClaim(object), extendedClaim(oldObject))) {
    return `node ${JSON.stringify(node)} cannot update extended resource claim status`;
  }
  return undefined;
}

function extendedClaim(pod: ApiObject | undefined): unknown {
  return (pod as ReadPod | undefined)?.status?.extendedResourceClaimStatus ?? null;
}

/** A node may create only slices for its own devices, and deleting a collection deletes only the node's own slices. */
function sliceProblem(node: string, { operation, object, oldObject }: AdmissionAttributes): Problem {
  if (operation !== 'CREATE' && operation !== 'DELETE') return undefined;
  const slice = (operation === 'CREATE' ? object : oldObject) as { spec?: { nodeName?: string } } | undefined;
  if (slice?.spec?.nodeName === node) return undefined;
  return `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`;
}

function claimStatuses(pod: ApiObject | undefined): readonly unknown[] {
  return (pod as ReadPod | undefined)?.status?.resourceClaimStatuses ?? [];
}

function claimProblem(node: string, { operation, subresource, object, oldObject }: AdmissionAttributes): Problem {
  if (subresource !== 'status') return 'may only update PVC status';
  if (operation !== 'UPDATE') return `unexpected operation "${operation}"`;
  if (isDeepStrictEqual(withoutOwnFields(object), withoutOwnFields(oldObject))) return undefined;
  return `node ${JSON.stringify(node)} may not update fields other than status.capacity and status.conditions`;
}

/** A claim without the fields that a node may report and those that every write changes. */
function withoutOwnFields(claim: ApiObject | undefined): unknown {
  const { metadata, status, ...rest } = claim ?? { metadata: {} };
  const { managedFields: _owners, resourceVersion: _version, ...names } = metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    ...others
  } = (status ?? {}) as Readonly<Record<string, unknown>>;
  return { ...rest, metadata: names, status: others };
}

function ownNameProblem(node: string, { name }: AdmissionAttributes, what: string): Problem {
  return name === node ? undefined : `can only access ${what} with the same name as the requesting node`;
}
