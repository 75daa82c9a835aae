import type { TokenReviewer, TokenReviewResult } from '../../base/machinery/tokens.js';
import { maxTokenLength } from './bearer-token/bearer-token.authenticator.js';
import type { TokenAuthenticator } from './token-authenticator.js';

const unknown = 'invalid bearer token';

/** Answers token reviews with the methods that authenticate requests. */
export class TokenReviews implements TokenReviewer {
  constructor(
    private readonly tokens: TokenAuthenticator,
    private readonly apiAudiences: readonly string[],
  ) {}

  async review(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenReviewResult> {
    if (token.length > maxTokenLength) return { authenticated: false, error: unknown };
    const asked = audiences.length === 0 ? this.apiAudiences : audiences;
    const result = await this.tokens.authenticateToken(token, asked, signal);
    switch (result.kind) {
      case 'user':
        return { authenticated: true, user: result.user, audiences: result.audiences };
      case 'rejected':
        return { authenticated: false, error: `[${unknown}, ${result.reason}]` };
      case 'none':
        return { authenticated: false, error: unknown };
    }
  }
}
