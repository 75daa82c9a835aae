import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from '../authenticator.js';
import { hasBootstrapTokenForm } from '../bootstrap-token/bootstrap-token-form.js';
import type { TokenResult } from '../token-authenticator.js';
import type { TokenCache, UnknownTokenGuard } from '../token-cache.js';
import { bearerToken } from './bearer-token.js';
import type { FailedAttempts } from './failed-attempts.js';

/** Longer tokens are rejected without a check: real tokens have a few kilobytes at most. */
export const maxTokenLength = 16 * 1024;

/** Tokens contain no spaces (RFC 6750 section 2.1). Among several words it would be unclear which one is the token. */
const hasSpace = /\s/;

const badToken: AuthenticationResult = Object.freeze({ kind: 'rejected', reason: 'invalid bearer token' });

/** Authenticates the bearer token of the Authorization header with all token methods (specification 5.2). */
export class BearerTokenAuthenticator implements Authenticator, UnknownTokenGuard<AuthenticationRequest> {
  constructor(
    private readonly tokens: Pick<TokenCache, 'authenticateFor'>,
    private readonly apiAudiences: readonly string[],
    private readonly now: () => number,
    private readonly attempts: Pick<FailedAttempts, 'check' | 'failed'>,
  ) {}

  authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> | AuthenticationResult {
    const token = bearerToken(request.authorization);
    if (token === undefined) return noCredentials;
    if (token.length > maxTokenLength || hasSpace.test(token)) return badToken;
    const asked = this.tokens.authenticateFor(request, token, this.apiAudiences, this);
    if (!(asked instanceof Promise)) return this.resultOf(asked);
    if (!hasBootstrapTokenForm(token)) return asked.then((result) => this.resultOf(result));
    // The address is read now, because a closed socket no longer has it.
    const address = request.socket.remoteAddress;
    return asked.then((result) => {
      if (result.kind !== 'user') this.attempts.failed(address);
      return this.resultOf(result);
    });
  }

  /** Of all tokens only these are short, and each is looked up in the database. */
  beforeLookup({ socket }: AuthenticationRequest, token: string): void {
    if (hasBootstrapTokenForm(token)) this.attempts.check(socket.remoteAddress);
  }

  private resultOf(result: TokenResult): AuthenticationResult {
    if (result.kind === 'none') return badToken;
    if (result.kind === 'rejected') return result;
    const annotations = result.noteUse?.(this.now());
    return annotations === undefined
      ? result
      : { kind: 'user', user: result.user, annotations, warning: result.warning };
  }
}
