import { askedFields } from '../../../base/machinery/asked-selectors.js';
import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  RuleList,
  RuleResolver,
} from '../../../base/machinery/authorizer.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { nodeNameOf } from '../../../base/machinery/node-identity.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { serviceUnavailableError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { CompiledRole } from '../rbac/compiled-role.js';
import type { NodeGraph } from './node-graph.js';
import { type ReferenceKind, referenceKey } from './pod-references.js';

/** How current the graph is. */
export interface GraphState {
  /** For how long changes may have been missed, in milliseconds. */
  readonly lostForMs: number;
  /** Resolves when the graph contains everything committed before the call, or when that takes too long. */
  catchUp(): Promise<void>;
}

/** Dependencies of the authorizer. */
export interface NodeAuthorizerDependencies {
  readonly graph: NodeGraph;
  readonly state: GraphState;
  /** The rules of every node for resources that the graph does not cover. */
  readonly commonRules: CompiledRole;
  readonly names: VendorNames;
  /** Requests that need the graph are refused when changes may have been missed for longer than this. */
  readonly maxLostMs: number;
}

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });
const noRules: RuleList = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: false,
  evaluationError: '',
});
const unknownRules: RuleList = Object.freeze({
  ...noRules,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
});

type Decision = AuthorizationDecision | Promise<AuthorizationDecision>;
type Rule = (node: string, attributes: AuthorizerAttributes) => Decision;

/**
 * Mode `Node` (specification 5.4). Node agents may read the objects that pods on their node refer to, and no others of
 * those kinds. For other resources they have the rules of the role `system:node`, without a binding. A denial is the
 * same whether the object exists or not.
 *
 * The graph lags slightly behind the store. An agent learns of a new pod from a watch, maybe from another process, and
 * immediately requests the objects that the pod needs. So before a denial, the graph reads the log up to its head once.
 */
export class NodeAuthorizer implements Authorizer, RuleResolver {
  private readonly rules: ReadonlyMap<string, Rule>;

  constructor(private readonly dependencies: NodeAuthorizerDependencies) {
    const { graph, names } = dependencies;
    const refers = (kind: ReferenceKind) => (node: string, namespace: string, name: string) =>
      graph.refersTo(node, referenceKey(kind, namespace, name));
    const [storage, coordination, devices, certificates] = ['storage', 'coordination', 'resource', 'certificates'].map(
      (group) => groupName(group, names),
    );
    const resource = (name: string, group = '') => formatGroupResource({ group, resource: name });
    this.rules = new Map<string, Rule>([
      ['nodes', ownNode],
      ['pods', (node, attributes) => this.pods(node, attributes)],
      ['secrets', this.reading(refers('secret'))],
      ['configmaps', this.reading(refers('configmap'))],
      ['persistentvolumeclaims', this.claims(refers('claim'))],
      ['persistentvolumes', this.getting((node, _namespace, name) => graph.usesVolume(node, name))],
      ['serviceaccounts', this.accounts(refers('account'))],
      [
        resource('volumeattachments', storage),
        this.getting((node, _namespace, name) => graph.attachments.isOf(node, name)),
      ],
      [resource('csinodes', storage), ownCsiNode],
      [resource('resourceclaims', devices), this.getting(refers('device'))],
      [resource('resourceslices', devices), (node, attributes) => this.ownSlices(node, attributes)],
      [
        resource('podcertificaterequests', certificates),
        (node, attributes) => this.ownCertificateRequests(node, attributes),
      ],
      [resource('leases', coordination), (node, attributes) => this.ownLease(node, attributes)],
    ]);
  }

  authorize(attributes: AuthorizerAttributes): Decision {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return noOpinion;
    const { user, isResourceRequest, resource, subresource, apiGroup, verb, name, path } = attributes;
    if (node === '') return no(`unknown node for user ${JSON.stringify(user.name)}`);
    const { commonRules } = this.dependencies;
    if (!isResourceRequest) return commonRules.allowsPath(verb, path) ? allow : noOpinion;
    const rule = this.rules.get(apiGroup === '' ? resource : `${resource}.${apiGroup}`);
    if (rule !== undefined) return rule(node, attributes);
    const full = subresource === '' ? resource : `${resource}/${subresource}`;
    const wildcard = subresource === '' ? '' : `*/${subresource}`;
    return commonRules.allowsResource(verb, apiGroup, full, wildcard, name) ? allow : noOpinion;
  }

  /** The decisions of the graph can't be expressed as rules. */
  rulesFor(user: UserInfo): RuleList {
    return nodeNameOf(user) === undefined ? noRules : unknownRules;
  }

  /** Allows reads of one object, including lists and watches of that object. */
  private reading(isConnected: Connection): Rule {
    return (node, attributes) => {
      const { verb, subresource, namespace } = attributes;
      if (!['get', 'list', 'watch'].includes(verb)) return no('can only read resources of this type');
      if (subresource !== '') return no('cannot read subresource');
      if (namespace === '') return no('can only read namespaced object of this type');
      return this.connected(node, attributes, isConnected);
    };
  }

  private getting(isConnected: Connection): Rule {
    return (node, attributes) => {
      if (attributes.verb !== 'get') return no('can only get individual resources of this type');
      if (attributes.subresource !== '') return no('cannot get subresource');
      return this.connected(node, attributes, isConnected);
    };
  }

  private claims(isConnected: Connection): Rule {
    const get = this.getting(isConnected);
    return (node, attributes) => {
      if (attributes.subresource !== 'status') return get(node, attributes);
      if (attributes.verb !== 'update' && attributes.verb !== 'patch') {
        return no('can only get/update/patch this type');
      }
      return this.connected(node, attributes, isConnected);
    };
  }

  private accounts(isConnected: Connection): Rule {
    const read = this.reading(isConnected);
    return (node, attributes) => {
      // Credential plugins for images need the annotations of the service account.
      if (attributes.verb === 'get' && attributes.subresource === '') return read(node, attributes);
      if (attributes.verb !== 'create' || attributes.name === '') {
        return no('can only create tokens for individual service accounts');
      }
      if (attributes.subresource !== 'token') return no('can only create token subresource of serviceaccount');
      return this.connected(node, attributes, isConnected);
    };
  }

  /** Allows reads of pods on the node. Writes are restricted further by NodeRestriction, which sees the pods. */
  private pods(node: string, attributes: AuthorizerAttributes): Decision {
    const { verb, subresource, name, selectors } = attributes;
    if (subresource !== '') return podWrites[subresource]?.includes(verb) === true ? allow : noOpinion;
    if (verb === 'create' || verb === 'delete') return allow;
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion;
    if (verb !== 'get') {
      if (asksForNode(node, selectors)) return allow;
      if (name === '') return no('can only list/watch pods with spec.nodeName field selector');
    }
    const { graph } = this.dependencies;
    return this.connected(node, attributes, (_, namespace, pod) => graph.isPodOn(node, namespace, pod));
  }

  private ownLease(node: string, { verb, namespace, name }: AuthorizerAttributes): AuthorizationDecision {
    if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a node lease');
    const { nodeLeaseNamespace } = this.dependencies.names;
    if (namespace !== nodeLeaseNamespace) {
      return no(`can only access leases in the ${JSON.stringify(nodeLeaseNamespace)} system namespace`);
    }
    // The name of a new lease is in the body; admission checks it.
    if (verb !== 'create' && name !== node) {
      return no('can only access node lease with the same name as the requesting node');
    }
    return allow;
  }

  /** Allows access to the slices of the node's own devices; admission checks new slices. */
  private ownSlices(node: string, attributes: AuthorizerAttributes): Decision {
    const { verb, subresource, selectors } = attributes;
    if (subresource !== '') return no('cannot authorize ResourceSlice subresources');
    if (verb === 'create') return allow;
    if (['get', 'update', 'patch', 'delete'].includes(verb)) {
      const { graph } = this.dependencies;
      return this.connected(node, attributes, (_, _namespace, slice) => graph.slices.isOf(node, slice));
    }
    if (!['watch', 'list', 'deletecollection'].includes(verb)) {
      return no(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      );
    }
    return asksForNode(node, selectors)
      ? allow
      : no('can only list/watch/deletecollection resourceslices with nodeName field selector');
  }

  /** Allows access to the requests for pods on the node; admission checks new requests. */
  private ownCertificateRequests(node: string, attributes: AuthorizerAttributes): Decision {
    const { verb, subresource, selectors } = attributes;
    if (subresource !== '') return no('nodes may not access the status subresource of PodCertificateRequests');
    if (verb === 'create') return allow;
    if (verb === 'get') {
      const { certificateRequests } = this.dependencies.graph;
      return this.connected(node, attributes, (_, namespace, name) =>
        certificateRequests.isOf(node, `${namespace}/${name}`),
      );
    }
    if (verb !== 'list' && verb !== 'watch') return no(`nodes may not ${verb} podcertificaterequests`);
    return asksForNode(node, selectors)
      ? allow
      : no('can only list/watch podcertificaterequests with nodeName field selector');
  }

  private connected(node: string, attributes: AuthorizerAttributes, isConnected: Connection): Decision {
    const { namespace, name } = attributes;
    if (name === '') return no('No Object name found');
    this.refuseWhenLost();
    if (isConnected(node, namespace, name)) return allow;
    return this.connectedSoon(() => isConnected(node, namespace, name)).then((isSo) => {
      this.refuseWhenLost();
      return isSo ? allow : no(`no relationship found between node '${node}' and this object`);
    });
  }

  /** Whether the objects are connected; false only after everything committed before the call was read. */
  private async connectedSoon(isConnected: () => boolean): Promise<boolean> {
    const { graph, state } = this.dependencies;
    let stop: (() => void) | undefined;
    const seen = new Promise<void>((resolve) => {
      stop = graph.onGrowth(() => {
        if (isConnected()) resolve();
      });
    });
    await Promise.race([seen, state.catchUp()]);
    stop?.();
    return isConnected();
  }

  /** Refuses the request while changes may have been missed: a pod may have moved away or been deleted. */
  private refuseWhenLost(): void {
    if (this.dependencies.state.lostForMs <= this.dependencies.maxLostMs) return;
    throw serviceUnavailableError('what nodes may read is unknown, because the change log cannot be followed');
  }
}

type Connection = (node: string, namespace: string, name: string) => boolean;

const ownVerbs: readonly string[] = ['get', 'create', 'update', 'patch', 'delete'];

/** Subresources of pods that agents write, with the allowed verbs. */
const podWrites: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  status: ['update', 'patch'],
  eviction: ['create'],
});

/**
 * Compares names without the graph, since an agent reads its Node before it exists. Admission restricts the writes
 * further.
 */
function ownNode(node: string, { verb, subresource, name }: AuthorizerAttributes): AuthorizationDecision {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow : noOpinion;
  if (subresource !== '') return noOpinion;
  if (verb === 'create' || verb === 'update' || verb === 'patch') return allow;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion;
  if (name === node) return allow;
  const other = name === '' ? 'all nodes' : `'${name}'`;
  return no(`node '${node}' cannot read ${other}, only its own Node object`);
}

function ownCsiNode(node: string, { verb, subresource, name }: AuthorizerAttributes): AuthorizationDecision {
  if (subresource === 'status') return no('CSINode status access requires CSIVolumeHealth feature');
  if (subresource !== '') return no('cannot authorize CSINode subresources');
  if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (verb !== 'create' && name !== node) {
    return no('can only access CSINode with the same name as the requesting node');
  }
  return allow;
}

/** Whether a list or watch is only about objects of the node. */
function asksForNode(node: string, selectors: AuthorizerAttributes['selectors']): boolean {
  return askedFields(selectors).some(
    ({ field, equals, value }) => equals && field === 'spec.nodeName' && value === node,
  );
}

function no(reason: string): AuthorizationDecision {
  return { decision: 'noOpinion', reason };
}
