import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  bootstrapTokenKeys,
  bootstrapTokenSecretPrefix,
  isBootstrapGroup,
  readBootstrapToken,
  secretText,
  type TokenSecret,
} from '../../../base/machinery/bootstrap-token.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { decodeStored, type StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import {
  dependencyOf,
  ownAudiences,
  type TokenAuthenticator,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';
import { bootstrapTokenForm } from './bootstrap-token-form.js';

const userPrefix = 'system:bootstrap:';
const commonGroup = 'system:bootstrappers';

/** Dependencies of the method. */
export interface BootstrapTokenDependencies {
  readonly names: VendorNames;
  readonly registry: StoredResources;
  readonly clock: Clock;
  /** Secrets are read for every token that isn't cached: deleting a secret revokes its token. */
  readonly storage: Pick<Storage, 'get'>;
  readonly logger: { debug(text: string, fields?: object): void };
}

/**
 * Tokens for joining nodes (specification 2.8, 5.2). The secret `bootstrap-token-<id>` in the system namespace defines
 * whether a token may authenticate, until when, and for which groups. The reason for a rejection is logged but never
 * sent to the client, so clients can't find out which ids exist.
 */
export class BootstrapTokenAuthenticator implements TokenAuthenticator {
  constructor(
    private readonly dependencies: BootstrapTokenDependencies,
    private readonly apiAudiences: readonly string[],
  ) {}

  authenticateToken(token: string, asked: readonly string[]): Promise<TokenResult> | TokenResult {
    const match = bootstrapTokenForm.exec(token);
    if (match === null) return unknownToken;
    const audiences = ownAudiences(asked, this.apiAudiences);
    if (audiences === undefined) return unknownToken;
    return this.lookUp(match[1] as string, match[2] as string, audiences);
  }

  private async lookUp(id: string, secretPart: string, audiences: readonly string[]): Promise<TokenResult> {
    const { names, storage, registry, clock } = this.dependencies;
    const namespace = names.systemNamespace;
    const name = `${bootstrapTokenSecretPrefix}${id}`;
    const stored = await storage.get({ resource: 'secrets', namespace, name });
    if (stored === undefined) return this.refused(id, 'there is no such secret');
    const secret = decodeStored(registry, stored) as ApiObject as TokenSecret;
    if (secret.metadata.deletionTimestamp !== undefined) return this.refused(id, 'the secret is being deleted');
    const found = readBootstrapToken(secret, names);
    if (found === undefined) return this.refused(id, 'the secret does not have the form of a token');
    if (!isSame(secretPart, found.secret)) return this.refused(id, 'the secret part is wrong');
    if (found.expiresAt <= clock.now()) return this.refused(id, 'the token has expired');
    if (secretText(secret, bootstrapTokenKeys.usageAuthentication) !== 'true') {
      return this.refused(id, 'the token is not meant for authentication');
    }
    const groups = groupsOf(secret);
    if (groups === undefined) return this.refused(id, 'the token names groups that tokens must not grant');
    return {
      kind: 'user',
      user: Object.freeze({ name: `${userPrefix}${id}`, uid: '', groups, extra: Object.freeze({}) }),
      audiences,
      expiresAt: Number.isFinite(found.expiresAt) ? found.expiresAt : undefined,
      dependsOn: [dependencyOf('secrets', namespace, name)],
    };
  }

  /** Logs the rejection. The id is public; the rest of a token is not. */
  private refused(id: string, reason: string): TokenResult {
    this.dependencies.logger.debug('bootstrap token refused', { id, reason });
    return unknownToken;
  }
}

/** Compares in constant time: hashes have equal length. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

/** The groups of the token; undefined when one of them may not be granted by a token. */
function groupsOf(secret: TokenSecret): readonly string[] | undefined {
  const text = secretText(secret, bootstrapTokenKeys.extraGroups) ?? '';
  const further = text === '' ? [] : text.split(',');
  if (!further.every(isBootstrapGroup)) return undefined;
  return Object.freeze([...new Set([commonGroup, ...further])].sort());
}
