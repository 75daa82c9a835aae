import type { UserInfo } from '../machinery/request-context.js';
import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from './authenticator.js';

const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroup = 'system:unauthenticated';

/**
 * Tries methods in order: the first that knows the user ends it (specification 5.1). Rejected credentials are remembered
 * only as far as that a request with them is never anonymous.
 */
export class UnionAuthenticator implements Authenticator {
  constructor(private readonly methods: readonly Authenticator[]) {}

  async authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> {
    let rejected: AuthenticationResult | undefined;
    for (const method of this.methods) {
      const tried = method.authenticate(request);
      const result = tried instanceof Promise ? await tried : tried;
      if (result.kind === 'user') return { kind: 'user', user: withAuthenticatedGroup(result.user) };
      if (result.kind === 'rejected') rejected ??= result;
    }
    return rejected ?? noCredentials;
  }
}

const withGroup = new WeakMap<UserInfo, UserInfo>();

/** Every authenticated user is in one more group. Users are shared objects, so the extended form is kept with them. */
function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user;
  let extended = withGroup.get(user);
  if (extended === undefined) {
    extended = Object.freeze({ ...user, groups: Object.freeze([...user.groups, authenticatedGroup]) });
    withGroup.set(user, extended);
  }
  return extended;
}
