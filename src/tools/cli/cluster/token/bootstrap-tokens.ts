import {
  bootstrapTokenSecretPrefix,
  bootstrapTokenKeys as keys,
  readBootstrapToken,
  secretText,
  type TokenSecret,
} from '../../../../base/machinery/bootstrap-token.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import { ApiError } from '../../../../nodes/connection/api-error.js';
import type { AdminApi } from '../admin-api.js';
import { TokenText } from './token-text.js';

/** The purposes of a new token. */
export interface TokenWish {
  readonly token: TokenText;
  readonly ttlMs: number;
  readonly usages: readonly string[];
  readonly groups: readonly string[];
  readonly description: string;
}

/** A token of the cluster. */
export interface KnownToken {
  readonly token: TokenText;
  readonly description: string;
  /** Milliseconds since 1970; infinite for a token without an end. */
  readonly expiresAt: number;
  readonly usages: readonly string[];
  readonly groups: readonly string[];
}

const usageKeys = { authentication: keys.usageAuthentication, signing: keys.usageSigning } as const;

/** The bootstrap tokens of a cluster, which are secrets of its system namespace (specification 2.8). */
export class BootstrapTokens {
  constructor(private readonly admin: AdminApi) {}

  /** Makes a token. @throws StartupError when there is one with its id */
  async create(wish: TokenWish, now: number, dryRun = false): Promise<KnownToken> {
    const { api, names, signal } = this.admin;
    const { token, ttlMs, usages, groups, description } = wish;
    const expiration = ttlMs === 0 ? undefined : new Date(now + ttlMs).toISOString().replace(/\.\d+Z$/, 'Z');
    const stringData: Record<string, string> = {
      [keys.id]: token.id,
      [keys.secret]: token.secret,
      ...(description === '' ? {} : { [keys.description]: description }),
      ...(expiration === undefined ? {} : { [keys.expiration]: expiration }),
      ...(groups.length === 0 ? {} : { [keys.extraGroups]: groups.join() }),
    };
    for (const usage of usages) stringData[usageKeys[usage as keyof typeof usageKeys]] = 'true';
    const metadata = { name: `${bootstrapTokenSecretPrefix}${token.id}`, namespace: names.systemNamespace };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: names.bootstrapTokenSecretType, stringData };
    try {
      await api.send('POST', `${this.path}${dryRun ? '?dryRun=All' : ''}`, { body, signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
      throw new StartupError(`there is already a token with the id ${token.id}`);
    }
    const expiresAt = expiration === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiration);
    return { token, description, expiresAt, usages: [...usages].sort(), groups };
  }

  /** All well-formed tokens, expired ones too. */
  async list(): Promise<KnownToken[]> {
    const { api, names, signal } = this.admin;
    const selector = encodeURIComponent(`type=${names.bootstrapTokenSecretType}`);
    const found: KnownToken[] = [];
    for (let next = ''; ; ) {
      const path = `${this.path}?limit=500&fieldSelector=${selector}${next}`;
      const { items, metadata } = await api.send<{
        readonly items: readonly TokenSecret[];
        readonly metadata: { readonly continue?: string };
      }>('GET', path, { signal });
      for (const secret of items) {
        const token = readBootstrapToken(secret, names);
        const text = token && TokenText.parse(`${token.id}.${token.secret}`);
        if (token !== undefined && text !== undefined) found.push(knownToken(secret, text, token.expiresAt));
      }
      if (!metadata.continue) return found;
      next = `&continue=${encodeURIComponent(metadata.continue)}`;
    }
  }

  /** Deletes a token. @throws StartupError when there is none with this id */
  async delete(id: string, dryRun = false): Promise<void> {
    const { api, signal } = this.admin;
    const path = `${this.path}/${bootstrapTokenSecretPrefix}${id}${dryRun ? '?dryRun=All' : ''}`;
    try {
      await api.send('DELETE', path, { signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      throw new StartupError(`there is no token with the id ${id}`);
    }
  }

  private get path(): string {
    return `/api/v1/namespaces/${this.admin.names.systemNamespace}/secrets`;
  }
}

function knownToken(secret: TokenSecret, token: TokenText, expiresAt: number): KnownToken {
  const groups = secretText(secret, keys.extraGroups) ?? '';
  return {
    token,
    expiresAt,
    description: secretText(secret, keys.description) ?? '',
    usages: Object.entries(usageKeys).flatMap(([usage, key]) => (secretText(secret, key) === 'true' ? [usage] : [])),
    groups: groups === '' ? [] : groups.split(','),
  };
}
