import { X509Certificate } from 'node:crypto';
import type { AuthenticationOptions } from '../../../base/config/authentication.options.js';

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

const keys = {
  clientAuthorities: 'client-ca-file',
  proxyAuthorities: 'requestheader-client-ca-file',
  allowedNames: 'requestheader-allowed-names',
  username: 'requestheader-username-headers',
  uid: 'requestheader-uid-headers',
  groups: 'requestheader-group-headers',
  extraPrefixes: 'requestheader-extra-headers-prefix',
} as const;

const identityKeys = {
  users: keys.username,
  uids: keys.uid,
  groups: keys.groups,
  extraPrefixes: keys.extraPrefixes,
} as const;

/** The ConfigMap of the system namespace that contains the data. */
export const authorityMapName = 'extension-apiserver-authentication';

/** The data of a ConfigMap from which extension servers learn which client certificates and proxies to trust. */
export type AuthorityData = Readonly<Record<string, string>>;

/** The CA certificates in force, in PEM. */
export interface AuthoritiesInForce {
  readonly client: string | undefined;
  readonly proxy: string | undefined;
}

/** The data of this process; empty when it has no CA certificates for clients. */
export function authorityData(
  options: AuthenticationOptions,
  { client, proxy: proxies }: AuthoritiesInForce,
): AuthorityData {
  const proxy = proxies !== undefined && {
    [keys.proxyAuthorities]: proxies,
    [keys.allowedNames]: JSON.stringify(options.requestheaderAllowedNames),
    [keys.username]: JSON.stringify(options.requestheaderUsernameHeaders),
    [keys.uid]: JSON.stringify(options.requestheaderUidHeaders),
    [keys.groups]: JSON.stringify(options.requestheaderGroupHeaders),
    [keys.extraPrefixes]: JSON.stringify(options.requestheaderExtraHeadersPrefix),
  };
  return {
    ...(client === undefined ? {} : { [keys.clientAuthorities]: client }),
    ...(proxy === false ? {} : proxy),
  };
}

/**
 * Merges the data of this process (`own`) into the data that other processes wrote (`stored`). While certificates are
 * being replaced, processes with different files run side by side. Hence certificates and headers are only added, and
 * only expired certificates are removed. Unknown keys stay.
 *
 * @param now milliseconds since the epoch.
 */
export function mergeAuthorities(stored: AuthorityData, own: AuthorityData, now: number): AuthorityData {
  const merged: Record<string, string> = { ...stored, ...own };
  for (const key of [keys.clientAuthorities, keys.proxyAuthorities]) {
    if (own[key] !== undefined) merged[key] = mergeCertificates([stored[key] ?? '', own[key]], now);
  }
  for (const key of Object.values(identityKeys)) {
    if (own[key] !== undefined) merged[key] = JSON.stringify(union(listOf(stored[key]), listOf(own[key])));
  }
  const ownNames = own[keys.allowedNames];
  if (ownNames !== undefined && stored[keys.allowedNames] !== undefined) {
    const [before, after] = [listOf(stored[keys.allowedNames]), listOf(ownNames)];
    // An empty list allows all names, so adding names would narrow it.
    const isEvery = before.length === 0 || after.length === 0;
    merged[keys.allowedNames] = JSON.stringify(isEvery ? [] : union(before, after));
  }
  return merged;
}

/** The names of the fields in which extension servers expect the user, most preferred first. */
export function identityNamesOf(data: AuthorityData): Readonly<Record<keyof typeof identityKeys, readonly string[]>> {
  return {
    users: listOf(data[identityKeys.users]),
    uids: listOf(data[identityKeys.uids]),
    groups: listOf(data[identityKeys.groups]),
    extraPrefixes: listOf(data[identityKeys.extraPrefixes]),
  };
}

function mergeCertificates(texts: readonly string[], now: number): string {
  const kept = new Map<string, string>();
  for (const block of texts.join('\n').match(pemBlock) ?? []) {
    try {
      const certificate = new X509Certificate(block);
      if (Date.parse(certificate.validTo) > now) kept.set(certificate.fingerprint256, block);
    } catch {
      // Drops an unreadable certificate, which no other reader could use either.
    }
  }
  return [...kept.values()].map((block) => `${block}\n`).join('');
}

function union(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...a, ...b])];
}

/** The strings of a JSON list; empty for any other value. */
function listOf(text: string | undefined): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}
