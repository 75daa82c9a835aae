import type { UserInfo } from '../machinery/request-context.js';

const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroup = 'system:unauthenticated';

const withGroup = new WeakMap<UserInfo, UserInfo>();

/**
 * The user with the group that every authenticated user is in (specification 5.1). Users are shared objects, so the
 * extended form is kept with them; `user` itself stays as it is.
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
