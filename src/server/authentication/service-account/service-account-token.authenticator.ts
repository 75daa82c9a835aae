import { timingSafeEqual } from 'node:crypto';
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { invalidSinceLabel } from '../../../base/machinery/legacy-tokens.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ServiceAccount } from '../../../objects/apis/core/v1/service-account.types.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../storage/storage.interface.js';
import {
  intersectAudiences,
  ownAudiences,
  rejectedToken,
  type TokenAuthenticator,
  type TokenIdentity,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';
import { AccountObjects } from './account-objects.js';
import { type AccountClaims, decodeAccountClaims } from './claims.js';
import { decodeSecretToken, type SecretTokenClaims } from './secret-token.js';
import type { SecretTokenUses } from './secret-token-uses.js';
import { accountUserName } from './token-issuer.js';
import { TokenObjectError } from './token-object-error.js';
import type { VerificationKey } from './verification-keys.js';

/** How far the clock of the signing process may be ahead of this one's. */
const notBeforeLeewaySeconds = 60;

/** Counters for notable uses of tokens. */
export interface TokenUseCounters {
  validToken(): void;
  staleToken(): void;
  secretToken(): void;
  /**
   * Counts a use of a token in a secret: `itself` if its service account lists the secret, as it does for generated
   * ones, otherwise `hand`.
   */
  secretTokenMade(by: 'itself' | 'hand'): void;
  /** Counts a use of a token that is marked invalid. */
  invalidSecretToken(): void;
}

/** Settings for checking service account tokens. */
export interface ServiceAccountTokenSettings {
  /** The keys at the start. */
  readonly keys: readonly VerificationKey[];
  /** Accepted issuers. */
  readonly issuers: readonly string[];
  /** Audiences of this server; they also apply to tokens that name none. */
  readonly apiAudiences: readonly string[];
  /** Whether a token kept in a secret becomes invalid with its secret and its service account. */
  readonly lookup: boolean;
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly counters: TokenUseCounters;
  /** Records on which day a token in a secret was used. */
  readonly uses: Pick<SecretTokenUses, 'record'>;
}

type Payload = Readonly<Record<string, unknown>>;

/**
 * Service account tokens (specification 5.2, RFC 7519): issued on request, with an expiry and bound to objects, or kept
 * in secrets. A key is used only with its own algorithm, whatever the token says.
 */
export class ServiceAccountTokenAuthenticator implements TokenAuthenticator {
  private keys: readonly VerificationKey[] = [];
  private byId: ReadonlyMap<string, VerificationKey> = new Map();

  constructor(private readonly settings: ServiceAccountTokenSettings) {
    this.useKeys(settings.keys);
  }

  /** Replaces the verification keys: only tokens signed with these are accepted. */
  useKeys(keys: readonly VerificationKey[]): void {
    this.keys = keys;
    this.byId = new Map(keys.map((key) => [key.id, key]));
  }

  async authenticateToken(token: string, audiences: readonly string[]): Promise<TokenResult> {
    const issuer = claimedIssuer(token);
    const isOfSecret = issuer === this.settings.names.secretTokenIssuer;
    if (issuer === undefined || !(isOfSecret || this.settings.issuers.includes(issuer))) return unknownToken;
    const payload = await this.verify(token);
    if (payload === undefined) return rejectedToken('the signature of the token is not valid');
    try {
      return await (isOfSecret ? this.ofSecret(token, payload, audiences) : this.issued(payload, audiences));
    } catch (error) {
      if (error instanceof TokenObjectError) return rejectedToken(error.message);
      throw error;
    }
  }

  private async verify(token: string): Promise<Payload | undefined> {
    for (const { key, algorithm } of this.candidates(token)) {
      try {
        const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
        return JSON.parse(Buffer.from(payload).toString('utf8')) as Payload;
      } catch {
        // Continue: another key may verify the signature.
      }
    }
    return undefined;
  }

  /** The key that the token names, if it is known; otherwise all keys for its algorithm. */
  private candidates(token: string): readonly VerificationKey[] {
    const { alg, kid } = decodeProtectedHeader(token);
    const named = kid === undefined ? undefined : this.byId.get(kid);
    const keys = named === undefined ? this.keys : [named];
    return keys.filter(({ algorithm }) => algorithm === alg);
  }

  private async issued(payload: Payload, asked: readonly string[]): Promise<TokenResult> {
    const { names, storage, registry, clock } = this.settings;
    const now = clock.now() / 1000;
    const { exp, nbf, jti, sub } = payload;
    if (typeof exp !== 'number' || exp <= now) return rejectedToken('Token has expired.');
    if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + notBeforeLeewaySeconds)) {
      return rejectedToken('Token could not be validated.');
    }
    const own = audiencesOf(payload);
    const audiences =
      own.length === 0 ? ownAudiences(asked, this.settings.apiAudiences) : intersectAudiences(asked, own);
    if (audiences === undefined || (audiences.length === 0 && asked.length > 0)) {
      return rejectedToken(`token audiences ${quoted(own)} is invalid for the target audiences ${quoted(asked)}`);
    }
    const claims = decodeAccountClaims(payload[names.tokenClaim]);
    if (claims === undefined || sub !== accountUserName(claims.namespace, claims.account.name)) {
      return rejectedToken('Token could not be validated.');
    }
    const objects = new AccountObjects(storage, registry, clock);
    const { namespace, account, pod, secret, node } = claims;
    await objects.account(namespace, account);
    if (secret !== undefined) await objects.bound('secrets', namespace, secret);
    if (pod !== undefined) await objects.bound('pods', namespace, pod);
    // In a pod's token the node is only a record of where the pod ran.
    if (node !== undefined && pod === undefined && secret === undefined) await objects.bound('nodes', '', node);
    const user = this.userOf(claims, typeof jti === 'string' ? jti : undefined);
    return {
      kind: 'user',
      user,
      audiences,
      expiresAt: exp * 1000,
      dependsOn: objects.dependsOn,
      noteUse: this.noteOf(claims, user),
    };
  }

  private async ofSecret(token: string, payload: Payload, asked: readonly string[]): Promise<TokenResult> {
    const { names, storage, registry, clock, lookup, counters, uses } = this.settings;
    const claims = decodeSecretToken(payload, names);
    if (claims === undefined || payload.sub !== accountUserName(claims.namespace, claims.accountName)) {
      return rejectedToken('Token could not be validated.');
    }
    const audiences = ownAudiences(asked, this.settings.apiAudiences);
    if (audiences === undefined) {
      const target = quoted(asked);
      return rejectedToken(`token audiences ${quoted([])} is invalid for the target audiences ${target}`);
    }
    const account = { name: claims.accountName, uid: claims.accountUid };
    const objects = new AccountObjects(storage, registry, clock);
    let made: 'itself' | 'hand' | undefined;
    if (lookup) {
      const secret = await objects.bound('secrets', claims.namespace, { name: claims.secretName, uid: '' });
      const kept = (secret.data as Record<string, unknown> | undefined)?.token;
      if (typeof kept !== 'string' || !isSameText(Buffer.from(kept, 'base64'), Buffer.from(token))) {
        return rejectedToken("Token does not match server's copy");
      }
      const { secrets } = (await objects.account(claims.namespace, account)) as ApiObject &
        Pick<ServiceAccount, 'secrets'>;
      uses.record(secret);
      if (secret.metadata.labels?.[invalidSinceLabel(names)]) {
        counters.invalidSecretToken();
        return rejectedToken(markedInvalid(claims, names));
      }
      made = (secrets ?? []).some(({ name }) => name === claims.secretName) ? 'itself' : 'hand';
    }
    const user = this.userOf({ namespace: claims.namespace, account }, undefined);
    const prefix = `authentication.${names.suffix}/legacy-token`;
    const kept = { itself: '-autogenerated-secret', hand: '-manual-secret' };
    const annotations = {
      [prefix]: user.name,
      ...(made === undefined ? {} : { [`${prefix}${kept[made]}`]: claims.secretName }),
    };
    const noteUse = () => {
      counters.secretToken();
      if (made !== undefined) counters.secretTokenMade(made);
      return annotations;
    };
    const warning = made === 'itself' ? madeByItself : undefined;
    return { kind: 'user', user, audiences, dependsOn: objects.dependsOn, noteUse, warning };
  }

  private userOf({ namespace, account, pod, node }: AccountClaims, tokenId: string | undefined): UserInfo {
    const prefix = this.settings.names.credentialPrefix;
    const extra: Record<string, readonly string[]> = {};
    const put = (name: string, value: string) => {
      if (value !== '') extra[`${prefix}/${name}`] = Object.freeze([value]);
    };
    if (tokenId !== undefined) put('credential-id', `JTI=${tokenId}`);
    if (node !== undefined) {
      put('node-name', node.name);
      put('node-uid', node.uid);
    }
    if (pod !== undefined) {
      put('pod-name', pod.name);
      put('pod-uid', pod.uid);
    }
    return Object.freeze({
      name: accountUserName(namespace, account.name),
      uid: account.uid,
      groups: Object.freeze(['system:serviceaccounts', `system:serviceaccounts:${namespace}`]),
      extra: Object.freeze(extra),
    });
  }

  private noteOf({ warnAfter }: AccountClaims, user: UserInfo): TokenIdentity['noteUse'] {
    const { counters, names } = this.settings;
    const key = `authentication.${names.suffix}/stale-token`;
    return (now) => {
      const late = warnAfter === undefined ? 0 : Math.floor(now / 1000) - warnAfter;
      if (late <= 0) {
        counters.validToken();
        return undefined;
      }
      counters.staleToken();
      return { [key]: `subject: ${user.name}, seconds after warning threshold: ${late}` };
    };
  }
}

const madeByItself =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.';

function markedInvalid({ namespace, secretName, accountName }: SecretTokenClaims, names: VendorNames): string {
  const label = invalidSinceLabel(names);
  return (
    `the token in secret ${namespace}/${secretName} for service account ${namespace}/${accountName} has been marked invalid. ` +
    'Use tokens from the TokenRequest API or manually created secret-based tokens, ' +
    `or remove the '${label}' label from the secret to temporarily allow use of this token`
  );
}

/** The issuer that a token claims, unverified; undefined when the text is not a signed JWT. */
function claimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    decodeProtectedHeader(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}

function audiencesOf({ aud }: Payload): string[] {
  const all = Array.isArray(aud) ? aud : [aud];
  return all.filter((audience): audience is string => typeof audience === 'string');
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
}

function isSameText(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
