import type { UserInfo } from './request-context.js';

const userPrefix = 'system:node:';
const nodesGroup = 'system:nodes';

/**
 * The node that a user is the agent of (specification 5.5, NodeRestriction): its user is `system:node:<name>` and it is
 * in the group `system:nodes`. Undefined for everybody else; empty for an agent that doesn't say of which node it is.
 */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined;
}
