import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { Clock } from '../../base/machinery/clock.js';
import type { OidcChecks } from './oidc-client.js';

/** How long a user may take to log in at the provider. */
export const flowMs = 600_000;

/** The two secrets of a login that is under way at the provider; neither is enough alone. */
export interface FlowKeys {
  /** Kept in a cookie that no script can read. */
  readonly cookie: string;
  /** Known only to the page that began the login. */
  readonly key: string;
}

/**
 * Logins that are under way at the provider. What they have to prove is in the browser's own cookie, encrypted with a key
 * of this process: so no number of beginnings takes memory, or the place of others.
 */
export class OidcFlows {
  private readonly secret = randomBytes(32);

  constructor(private readonly clock: Clock) {}

  async begin(checks: OidcChecks): Promise<FlowKeys> {
    const key = randomBytes(32).toString('base64url');
    const cookie = await new EncryptJWT({ ...checks, of: hashOf(key).toString('base64url') })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor((this.clock.now() + flowMs) / 1000))
      .encrypt(this.secret);
    return { cookie, key };
  }

  /** What the login has to prove; undefined when the secrets don't belong together, or the login took too long. */
  async find({ cookie, key }: Partial<FlowKeys>): Promise<OidcChecks | undefined> {
    if (cookie === undefined || key === undefined) return undefined;
    try {
      const { payload } = await jwtDecrypt(cookie, this.secret, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        currentDate: new Date(this.clock.now()),
      });
      const { redirectUri, state, nonce, verifier, of } = payload as unknown as OidcChecks & { readonly of: string };
      if (!timingSafeEqual(Buffer.from(of, 'base64url'), hashOf(key))) return undefined;
      return { redirectUri, state, nonce, verifier };
    } catch {
      // Of another process, too old, or not ours.
      return undefined;
    }
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
