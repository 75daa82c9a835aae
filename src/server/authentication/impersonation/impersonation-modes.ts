import { validateDomainPrefixedPath } from '../../../base/machinery/domain-prefixed-path.js';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { ImpersonationRequest } from './impersonation-request.js';

/**
 * A limited way to act as another user. The rights name it in their verbs: `impersonate:<mode>` for the user, and
 * `impersonate-on:<mode>:<verb>` for the actions as that user.
 */
export type ImpersonationMode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';

const nodePrefix = 'system:node:';
const keyPath = FieldPath.of('extra', 'key');

/** The node that a user name belongs to; undefined for users that are not nodes. */
export function nodeOf(userName: string): string | undefined {
  if (!userName.startsWith(nodePrefix)) return undefined;
  const name = userName.slice(nodePrefix.length);
  return isDns1123Subdomain(name).length === 0 ? name : undefined;
}

/**
 * The modes in which a sender may request to act as a user, narrowest first. For nodes and service accounts, only the
 * user name may be requested: their other fields are fixed.
 *
 * @param nodeKey the extra field of a service account's token that names the node of its pod
 */
export function modesOf(sender: UserInfo, wanted: ImpersonationRequest, nodeKey: string): ImpersonationMode[] {
  const { userName, account, groups, uid, extra } = wanted;
  const node = nodeOf(userName);
  if (node === undefined && account === undefined) return ['user-info'];
  if (groups.length > 0 || uid !== '' || extra.size > 0) return [];
  if (node === undefined) return ['serviceaccount'];
  return isOnNode(sender, node, nodeKey) ? ['associated-node', 'arbitrary-node'] : ['arbitrary-node'];
}

function isOnNode({ name, extra }: UserInfo, node: string, nodeKey: string): boolean {
  const named = extra[nodeKey] ?? [];
  return name.startsWith('system:serviceaccount:') && named.length === 1 && named[0] === node;
}

/** Why these extra fields are refused if the impersonation is limited; undefined if they are allowed. */
export function extraProblem(extra: ImpersonationRequest['extra']): string | undefined {
  for (const [key, values] of extra) {
    const [error] = validateDomainPrefixedPath(key, keyPath);
    if (error !== undefined)
      return `impersonating an invalid key in extra is not allowed: ${error.field}: ${error.message}`;
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}
