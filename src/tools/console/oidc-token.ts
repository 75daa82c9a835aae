import type { Clock } from '../../base/machinery/clock.js';
import type { Logger } from '../../base/observability/logger.js';
import type { OidcClient, OidcTokens } from './oidc-client.js';
import { OidcUnreachable } from './oidc-unreachable.js';

/** An ID token is replaced this long before it ends. */
const aheadMs = 60_000;
/** After a failure, the provider is not asked again within this time. */
const pauseMs = 5_000;

/** The credentials of a session that logged in at the provider. ID tokens end soon; a refresh token replaces them. */
export class OidcToken {
  private renewing: Promise<void> | undefined;
  private pausesUntil = 0;
  private isEnded = false;

  constructor(
    private tokens: OidcTokens,
    private readonly client: Pick<OidcClient, 'renewed' | 'revoke'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  get authorization(): string {
    return `Bearer ${this.tokens.idToken}`;
  }

  /** When the session has to end because nothing replaces the ID token; undefined where something does. */
  get endsAt(): number | undefined {
    return this.tokens.refreshToken === undefined ? this.tokens.until : undefined;
  }

  /**
   * Replaces an ID token that ends soon. Callers at the same time share one request.
   *
   * @throws OidcRefusal when the provider no longer lets the user in; OidcUnreachable when the token is over and the
   * provider does not answer
   */
  async renew(): Promise<void> {
    const now = this.clock.now();
    const { refreshToken, until } = this.tokens;
    if (refreshToken === undefined || now < until - aheadMs) return;
    if (now < this.pausesUntil) {
      if (now >= until) throw new OidcUnreachable('the provider does not answer: try again');
      return;
    }
    this.renewing ??= this.replace().finally(() => {
      this.renewing = undefined;
    });
    await this.renewing;
  }

  /** Takes the refresh token back, in the background. */
  end(): void {
    this.isEnded = true;
    const { refreshToken } = this.tokens;
    if (refreshToken === undefined) return;
    this.client.revoke(refreshToken).catch((error: Error) => {
      this.logger.warn('could not revoke a refresh token', { reason: error.message });
    });
  }

  private async replace(): Promise<void> {
    try {
      this.tokens = await this.client.renewed(this.tokens);
      // A logout meanwhile has taken back the token before this one.
      if (this.isEnded) this.end();
    } catch (error) {
      if (!(error instanceof OidcUnreachable)) throw error;
      this.pausesUntil = this.clock.now() + pauseMs;
      if (this.clock.now() >= this.tokens.until) throw error;
      this.logger.warn('could not renew an ID token yet', { reason: error.message });
    }
  }
}
