import type { UserInfo } from '../../base/machinery/request-context.js';

const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroup = 'system:unauthenticated';

const withGroup = new WeakMap<UserInfo, UserInfo>();

/**
 * Adds the group that every authenticated user belongs to (specification 5.1). User objects are shared, so the extended
 * form is cached by user; `user` itself is not changed.
 */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user;
  let extended = withGroup.get(user);
  if (extended === undefined) {
    extended = Object.freeze({ ...user, groups: Object.freeze([...user.groups, authenticatedGroup]) });
    withGroup.set(user, extended);
  }
  return extended;
}
