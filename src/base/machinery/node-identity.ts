import type { UserInfo } from './request-context.js';

const userPrefix = 'system:node:';
const nodesGroup = 'system:nodes';

/**
 * The name of the node to which a user belongs as its agent (specification 5.5, NodeRestriction): the user is
 * `system:node:<name>` in the group `system:nodes`. Undefined for other users; empty for an agent that does not name
 * its node.
 */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined;
}
