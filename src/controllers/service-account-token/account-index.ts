import type { Secret } from '../../apis/core/v1/secret.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import type { VendorNames } from '../../machinery/vendor.js';

/** `<namespace>/<name>`, which is unique among objects of one kind. */
export function keyText(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The account whose token a secret should hold; undefined for a secret of another type. */
export function accountOf(
  secret: ApiObject,
  names: VendorNames,
): { readonly name: string; readonly uid: string } | undefined {
  const { type, metadata } = secret as ApiObject as Secret;
  const name = metadata.annotations?.[names.serviceAccountNameAnnotation] ?? '';
  if (type !== names.serviceAccountTokenSecretType || name === '') return undefined;
  return { name, uid: metadata.annotations?.[names.serviceAccountUidAnnotation] ?? '' };
}

/** Which secrets should hold tokens of which account. Keeps names only. */
export class AccountIndex {
  private accounts = new Map<string, string>();
  private secrets = new Map<string, Set<string>>();

  clear(): void {
    this.accounts = new Map();
    this.secrets = new Map();
  }

  /** Records the account of a secret; undefined for none. Returns the key of its previous account. */
  set(secret: string, account: string | undefined): string | undefined {
    const before = this.accounts.get(secret);
    if (before === account) return before;
    if (before !== undefined) {
      const siblings = this.secrets.get(before);
      siblings?.delete(secret);
      if (siblings?.size === 0) this.secrets.delete(before);
      this.accounts.delete(secret);
    }
    if (account !== undefined) {
      this.accounts.set(secret, account);
      const siblings = this.secrets.get(account);
      if (siblings === undefined) this.secrets.set(account, new Set([secret]));
      else siblings.add(secret);
    }
    return before;
  }

  /** Keys of the secrets of an account. */
  secretsOf(account: string): Iterable<string> {
    return this.secrets.get(account) ?? [];
  }

  /** Keys of all secrets that should hold tokens. */
  all(): Iterable<string> {
    return this.accounts.keys();
  }
}
