import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from '../authenticator.js';
import type { TokenResult } from '../token-authenticator.js';
import type { TokenCache } from '../token-cache.js';
import { bearerToken } from './bearer-token.js';

/** Longer tokens are rejected without a check: real tokens have a few kilobytes at most. */
export const maxTokenLength = 16 * 1024;

/** Tokens contain no spaces (RFC 6750 section 2.1). Among several words it would be unclear which one is the token. */
const hasSpace = /\s/;

const badToken: AuthenticationResult = Object.freeze({ kind: 'rejected', reason: 'invalid bearer token' });

/** Authenticates the bearer token of the Authorization header with all token methods (specification 5.2). */
export class BearerTokenAuthenticator implements Authenticator {
  constructor(
    private readonly tokens: Pick<TokenCache, 'authenticateFor'>,
    private readonly apiAudiences: readonly string[],
    private readonly now: () => number,
  ) {}

  authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> | AuthenticationResult {
    const token = bearerToken(request.authorization);
    if (token === undefined) return noCredentials;
    if (token.length > maxTokenLength || hasSpace.test(token)) return badToken;
    const asked = this.tokens.authenticateFor(request, token, this.apiAudiences);
    return asked instanceof Promise ? asked.then((result) => this.resultOf(result)) : this.resultOf(asked);
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
