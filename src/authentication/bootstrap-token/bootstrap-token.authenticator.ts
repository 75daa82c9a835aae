import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiObject } from '../../machinery/api-object.js';
import {
  bootstrapTokenKeys,
  bootstrapTokenSecretPrefix,
  isBootstrapGroup,
  readBootstrapToken,
  secretText,
  type TokenSecret,
} from '../../machinery/bootstrap-token.js';
import type { Clock } from '../../machinery/clock.js';
import type { VendorNames } from '../../machinery/vendor.js';
import { decodeStored, type StoredResources } from '../../registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import {
  dependencyOf,
  ownAudiences,
  type TokenAuthenticator,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const userPrefix = 'system:bootstrap:';
const commonGroup = 'system:bootstrappers';

/** What the method works with. */
export interface BootstrapTokenParts {
  readonly names: VendorNames;
  readonly registry: StoredResources;
  readonly clock: Clock;
  /** Read for every token that isn't remembered: a deleted secret ends its token. */
  readonly storage: Pick<Storage, 'get'>;
  readonly logger: { debug(text: string, fields?: object): void };
}

/**
 * Tokens with which new nodes join (specification 2.8, 5.2): the secret `bootstrap-token-<id>` of the system namespace
 * says whether one is good for that, until when, and for which groups. Why a token isn't accepted is logged and never
 * answered, so that nobody learns which ids exist.
 */
export class BootstrapTokenAuthenticator implements TokenAuthenticator {
  constructor(
    private readonly parts: BootstrapTokenParts,
    private readonly apiAudiences: readonly string[],
  ) {}

  authenticateToken(token: string, asked: readonly string[]): Promise<TokenResult> | TokenResult {
    const match = tokenPattern.exec(token);
    if (match === null) return unknownToken;
    const audiences = ownAudiences(asked, this.apiAudiences);
    if (audiences === undefined) return unknownToken;
    return this.lookUp(match[1] as string, match[2] as string, audiences);
  }

  private async lookUp(id: string, secretPart: string, audiences: readonly string[]): Promise<TokenResult> {
    const { names, storage, registry, clock } = this.parts;
    const namespace = names.systemNamespace;
    const name = `${bootstrapTokenSecretPrefix}${id}`;
    const stored = await storage.get({ resource: 'secrets', namespace, name });
    if (stored === undefined) return this.refused(id, 'there is no such secret');
    const secret = decodeStored(registry, stored) as ApiObject as TokenSecret;
    if (secret.metadata.deletionTimestamp !== undefined) return this.refused(id, 'the secret is being deleted');
    const found = readBootstrapToken(secret, names);
    if (found === undefined) return this.refused(id, 'the secret has not the form of a token');
    if (!isSame(secretPart, found.secret)) return this.refused(id, 'the secret part is another one');
    if (found.expiresAt <= clock.now()) return this.refused(id, 'the token has expired');
    if (secretText(secret, bootstrapTokenKeys.usageAuthentication) !== 'true') {
      return this.refused(id, 'the token is not meant for authentication');
    }
    const groups = groupsOf(secret);
    if (groups === undefined) return this.refused(id, 'the token names groups that it may not');
    return {
      kind: 'user',
      user: Object.freeze({ name: `${userPrefix}${id}`, uid: '', groups, extra: Object.freeze({}) }),
      audiences,
      expiresAt: Number.isFinite(found.expiresAt) ? found.expiresAt : undefined,
      dependsOn: [dependencyOf('secrets', namespace, name)],
    };
  }

  /** The id is public, the rest is not. */
  private refused(id: string, reason: string): TokenResult {
    this.parts.logger.debug('bootstrap token refused', { id, reason });
    return unknownToken;
  }
}

/** In constant time; hashes have one length. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

/** Undefined when one of the groups is none that tokens may give. */
function groupsOf(secret: TokenSecret): readonly string[] | undefined {
  const text = secretText(secret, bootstrapTokenKeys.extraGroups) ?? '';
  const further = text === '' ? [] : text.split(',');
  if (!further.every(isBootstrapGroup)) return undefined;
  return Object.freeze([...new Set([commonGroup, ...further])].sort());
}
