import { withAuthenticatedGroup } from './authenticated-group.js';
import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from './authenticator.js';

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
      if (result.kind === 'user') return { ...result, user: withAuthenticatedGroup(result.user) };
      // A hint that a new connection may help must not get lost behind another method's refusal.
      if (result.kind === 'rejected' && (rejected === undefined || result.reconnect === true)) rejected = result;
    }
    return rejected ?? noCredentials;
  }
}
