import { serviceUnavailableError } from '../../base/machinery/status-error.js';
import { OutageLog, type OutageLogger } from '../../base/observability/outage-log.js';
import { withAuthenticatedGroup } from './authenticated-group.js';
import { rejectedToken, type TokenAuthenticator, type TokenResult, unknownToken } from './token-authenticator.js';

/**
 * Tries the methods in order; the first that accepts the token decides (specification 5.1). A rejection is reported
 * only if no method accepts the token. A failing method is skipped, since the token may belong to another. If no other
 * method accepts the token, the response is a 503: a client with good credentials must not give up because of an outage
 * here.
 */
export class TokenUnion implements TokenAuthenticator {
  /** One outage log per method, in the same order. */
  private readonly outages: readonly OutageLog[];

  /** @param logger receives when a method starts to fail, and when it has found a user again. */
  constructor(
    private readonly methods: readonly TokenAuthenticator[],
    logger: OutageLogger,
  ) {
    const texts = { failed: 'bearer tokens cannot be checked', recovered: 'bearer tokens can be checked again' };
    this.outages = methods.map(() => new OutageLog(logger, texts));
  }

  async authenticateToken(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenResult> {
    const reasons: string[] = [];
    let failure: unknown;
    for (const [i, method] of this.methods.entries()) {
      try {
        const tried = method.authenticateToken(token, audiences, signal);
        const result = tried instanceof Promise ? await tried : tried;
        if (result.kind === 'user') {
          this.outages[i]?.worked();
          return { ...result, user: withAuthenticatedGroup(result.user) };
        }
        if (result.kind === 'rejected') reasons.push(result.reason);
      } catch (error) {
        // If all requests have ended, the failure is not logged.
        if (!signal.aborted) this.outages[i]?.failed({ error });
        failure = error;
      }
    }
    signal.throwIfAborted();
    if (failure !== undefined)
      throw serviceUnavailableError('the bearer token cannot be checked right now', 1, failure);
    return reasons.length === 0 ? unknownToken : rejectedToken(reasons.join(', '));
  }
}
