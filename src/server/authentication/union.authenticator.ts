import { withAuthenticatedGroup } from './authenticated-group.js';
import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from './authenticator.js';

/**
 * Tries the methods in order; the first that knows the user decides (specification 5.1). A request with rejected
 * credentials is never treated as anonymous.
 */
export class UnionAuthenticator implements Authenticator {
  constructor(private readonly methods: readonly Authenticator[]) {}

  async authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> {
    let rejected: AuthenticationResult | undefined;
    for (const method of this.methods) {
      const tried = method.authenticate(request);
      const result = tried instanceof Promise ? await tried : tried;
      if (result.kind === 'user') return { ...result, user: withAuthenticatedGroup(result.user) };
      // Keep the hint that a new connection may help, even if an earlier method rejected the request without it.
      if (result.kind === 'rejected' && (rejected === undefined || result.reconnect === true)) rejected = result;
    }
    return rejected ?? noCredentials;
  }
}
