import type { Timers } from '../../base/machinery/timers.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';

/** A token in the response of the API. */
export interface TokenAnswer {
  readonly token: string;
  readonly expirationTimestamp: string;
}

interface IssuedToken {
  readonly answer: TokenAnswer;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A token is renewed after this fraction of its life, or after a day. */
const usedUp = 0.8;
const longestUseMs = 24 * 3_600_000;

/** Tokens of the service accounts of pods, each bound to its pod, cached until they should be renewed. */
export class PodTokens {
  private readonly issued = new Map<string, IssuedToken>();

  constructor(
    private readonly api: ApiUser,
    private readonly timers: Timers,
    private readonly signal: AbortSignal,
  ) {}

  async token(pod: Pod, audience: string, expirationSeconds: number): Promise<string> {
    return (await this.issue(pod, audience, expirationSeconds)).token;
  }

  /** Like {@link token}, with the time at which the token expires. */
  async issue({ metadata, spec }: Pod, audience: string, expirationSeconds: number): Promise<TokenAnswer> {
    const { namespace = '', name = '', uid = '' } = metadata;
    const account = spec.serviceAccountName || 'default';
    const key = JSON.stringify([uid, account, audience, expirationSeconds]);
    const known = this.issued.get(key);
    const now = this.timers.now();
    if (known !== undefined && now < renewalTime(known)) return known.answer;
    try {
      const body = {
        spec: {
          audiences: audience === '' ? [] : [audience],
          expirationSeconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      };
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
      const { status } = await this.api.send<{ status: TokenAnswer }>('POST', path, {
        body,
        signal: this.signal,
      });
      const answer = { token: status.token, expirationTimestamp: status.expirationTimestamp };
      this.issued.set(key, { answer, issuedAt: now, expiresAt: Date.parse(status.expirationTimestamp) });
      return answer;
    } catch (error) {
      // While the API is unavailable, the present token is used until it expires.
      if (known !== undefined && now < known.expiresAt) return known.answer;
      throw error;
    }
  }

  forget(uid: string): void {
    for (const key of this.issued.keys()) if (key.includes(`"${uid}"`)) this.issued.delete(key);
  }
}

function renewalTime({ issuedAt, expiresAt }: IssuedToken): number {
  return issuedAt + Math.min(usedUp * (expiresAt - issuedAt), longestUseMs);
}
