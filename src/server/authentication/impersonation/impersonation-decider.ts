import type { Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { deniedError } from '../../../base/machinery/denied-error.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { StatusError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { extraProblem, type ImpersonationMode, modesOf, nodeOf } from './impersonation-modes.js';
import { type ImpersonationRequest, impersonatedUser } from './impersonation-request.js';

const privilegedGroup = 'system:masters';
const nodesGroup = 'system:nodes';

/** The user as which a permitted request continues. */
export interface Impersonated {
  readonly user: UserInfo;
  /** The verb that limits the impersonation, for the audit trail; undefined without limits. */
  readonly constraint?: string;
}

/** A mode with limits, or the verb `impersonate`. */
type Way = ImpersonationMode | 'any';

/** As many senders are remembered. */
const mostSenders = 10_000;

/**
 * Decides who may act as which user: first by the rights that also limit the actions as that user, then by the verb
 * `impersonate`, which has no limits (specification 5.4).
 */
export class ImpersonationDecider {
  private readonly group: string;
  private readonly nodeKey: string;
  private readonly nodeKeysKey: string;
  /** How each sender last could act as somebody. */
  private readonly lastWays = new Map<string, Way>();

  /** @param hasModes whether rights with bounds count */
  constructor(
    private readonly authorizer: Authorizer,
    names: VendorNames,
    private readonly hasModes: boolean,
  ) {
    this.group = groupName('authentication', names);
    this.nodeKey = `${names.credentialPrefix}/node-name`;
    this.nodeKeysKey = `${names.credentialPrefix}/associated-node-keys`;
  }

  /**
   * Decides on an impersonation. The kind of right that the sender used last is looked for first. Throws the first
   * refusal when no right allows it.
   *
   * @param request attributes of the request, with its original sender as the user
   */
  async decide(wanted: ImpersonationRequest, request: AuthorizerAttributes): Promise<Impersonated> {
    const ways: Way[] = this.hasModes ? [...modesOf(request.user, wanted, this.nodeKey), 'any'] : ['any'];
    const last = this.lastWays.get(request.user.name);
    if (last !== undefined && ways.includes(last)) ways.unshift(...ways.splice(ways.indexOf(last), 1));
    let first: StatusError | undefined;
    for (const way of ways) {
      const refusal =
        way === 'any'
          ? await this.firstRefusal(this.reviews(request.user, 'impersonate', wanted))
          : await this.refusalOf(way, wanted, request);
      if (refusal === undefined) {
        this.remember(request.user.name, way);
        return way === 'any' ? { user: impersonatedUser(wanted) } : this.bounded(way, wanted);
      }
      first ??= refusal;
    }
    throw first;
  }

  private remember(sender: string, way: Way): void {
    if (this.lastWays.get(sender) === way) return;
    if (this.lastWays.size >= mostSenders) this.lastWays.clear();
    this.lastWays.set(sender, way);
  }

  private bounded(mode: ImpersonationMode, wanted: ImpersonationRequest): Impersonated {
    const isNode = nodeOf(wanted.userName) !== undefined;
    const user = impersonatedUser(isNode ? { ...wanted, groups: [nodesGroup] } : wanted);
    return { user, constraint: `impersonate:${mode}` };
  }

  private async refusalOf(
    mode: ImpersonationMode,
    wanted: ImpersonationRequest,
    request: AuthorizerAttributes,
  ): Promise<StatusError | undefined> {
    // The sender's node was checked before. The right applies to any sender on its own node, so the node's name is
    // removed.
    const sender = mode === 'associated-node' ? this.withoutNode(request.user) : request.user;
    const on = await this.refusal({ ...request, user: sender, verb: `impersonate-on:${mode}:${request.verb}` });
    return on ?? this.firstRefusal(this.boundedQuestions(sender, mode, wanted));
  }

  /** The permissions that one mode requires, and refusals of values that none of its rights allow. */
  private *boundedQuestions(
    user: UserInfo,
    mode: ImpersonationMode,
    wanted: ImpersonationRequest,
  ): Generator<AuthorizerAttributes | StatusError> {
    const verb = `impersonate:${mode}`;
    const ask = (resource: string, name: string) => this.review(user, verb, this.group, resource, name);
    const node = nodeOf(wanted.userName);
    if (node !== undefined) {
      yield ask('nodes', mode === 'associated-node' ? '*' : node);
      return;
    }
    const [first, ...others] = this.reviews(user, verb, wanted, this.group);
    yield first as AuthorizerAttributes;
    const { groups, extra } = wanted;
    if (groups.includes(privilegedGroup)) {
      yield deniedError(ask('groups', privilegedGroup), `impersonating the ${privilegedGroup} group is not allowed`);
    }
    const problem = extraProblem(extra);
    if (problem !== undefined) yield deniedError(ask('userextras', ''), problem);
    yield* others;
  }

  private async firstRefusal(reviews: Iterable<AuthorizerAttributes | StatusError>): Promise<StatusError | undefined> {
    for (const review of reviews) {
      const refusal = 'verb' in review ? await this.refusal(review) : review;
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  private async refusal(attributes: AuthorizerAttributes): Promise<StatusError | undefined> {
    const { decision, reason } = await this.authorizer.authorize(attributes);
    return decision === 'allow' ? undefined : deniedError(attributes, reason);
  }

  /** The permissions that the sender needs, in the order of the checks. */
  private *reviews(
    user: UserInfo,
    verb: string,
    { account, userName, groups, uid, extra }: ImpersonationRequest,
    group = '',
  ): Generator<AuthorizerAttributes> {
    if (account === undefined) yield this.review(user, verb, group, 'users', userName);
    else {
      yield { ...this.review(user, verb, group, 'serviceaccounts', account.name), namespace: account.namespace };
    }
    for (const name of groups) yield this.review(user, verb, group, 'groups', name);
    for (const [key, values] of extra) {
      for (const value of values) {
        yield { ...this.review(user, verb, this.group, 'userextras', value), subresource: key };
      }
    }
    if (uid !== '') yield this.review(user, verb, this.group, 'uids', uid);
  }

  private review(user: UserInfo, verb: string, apiGroup: string, resource: string, name: string): AuthorizerAttributes {
    return {
      user,
      verb,
      isResourceRequest: true,
      namespace: '',
      apiGroup,
      apiVersion: 'v1',
      resource,
      subresource: '',
      name,
      path: '',
    };
  }

  /** A service account with only the names of its token's extra fields. */
  private withoutNode(user: UserInfo): UserInfo {
    return { ...user, extra: { [this.nodeKeysKey]: Object.keys(user.extra).sort() } };
  }
}
