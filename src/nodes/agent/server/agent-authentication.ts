import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Timers } from '../../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { anonymous, type Caller } from './caller.js';
import { CallerRefusal } from './caller-refusal.js';
import { Reviews } from './reviews.js';
import { TimedCache } from './timed-cache.js';

export interface AuthenticationSettings {
  /** Whether requests without credentials count as the anonymous user; otherwise they are refused. */
  readonly anonymous: boolean;
  /** Whether bearer tokens are reviewed by the API. */
  readonly tokenWebhook: boolean;
  readonly tokenCacheMs: number;
}

interface ReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
}

/** Authenticates requests: by a client certificate of the trusted authorities, or by a token that the API reviews. */
export class AgentAuthentication {
  private readonly known: TimedCache<Caller>;
  private readonly reviews: Reviews;

  constructor(
    api: ApiUser,
    private readonly names: VendorNames,
    private readonly settings: AuthenticationSettings,
    timers: Timers,
  ) {
    this.known = new TimedCache(timers);
    this.reviews = new Reviews(api);
  }

  /** @throws CallerRefusal 401 for invalid credentials, or for missing ones where they are required */
  async callerOf(request: IncomingMessage, signal: AbortSignal): Promise<Caller> {
    const byCertificate = certificateCaller(request.socket as TLSSocket);
    if (byCertificate !== undefined) return byCertificate;
    const header = request.headers.authorization;
    const token = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
    if (token !== undefined && this.settings.tokenWebhook) {
      const caller = await this.review(token, signal);
      if (caller !== undefined) return caller;
      throw new CallerRefusal(401, 'Unauthorized');
    }
    // Credentials that can't be checked now are not treated as missing.
    if (header !== undefined || !this.settings.anonymous) throw new CallerRefusal(401, 'Unauthorized');
    return anonymous;
  }

  private async review(token: string, signal: AbortSignal): Promise<Caller | undefined> {
    const key = createHash('sha256').update(token).digest('hex');
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const group = groupName('authentication', this.names);
    const path = `/apis/${group}/v1/tokenreviews`;
    const body = { apiVersion: `${group}/v1`, kind: 'TokenReview', spec: { token } };
    const { status } = await this.reviews.send<{ status?: ReviewStatus }>(path, body, signal);
    if (status?.authenticated !== true || status.user === undefined) return undefined;
    const { username = '', groups = [], uid, extra } = status.user;
    const caller: Caller = {
      name: username,
      groups,
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    };
    this.known.set(key, caller, this.settings.tokenCacheMs);
    return caller;
  }
}

/** The user of a client certificate whose chain the listener has verified. */
function certificateCaller(socket: TLSSocket): Caller | undefined {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  if (!subject?.CN) return undefined;
  const name = [subject.CN].flat()[0] ?? '';
  const groups = subject.O === undefined ? [] : [subject.O].flat();
  return { name, groups: [...groups, 'system:authenticated'] };
}
