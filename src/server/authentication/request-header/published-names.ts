import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { type AuthorityData, authorityMapName, identityNamesOf } from './authority-data.js';

/**
 * The names of the identity fields for extension servers, as published by any process; undefined when none are
 * published.
 */
export async function publishedNames(
  storage: Pick<Storage, 'get'>,
  { systemNamespace }: VendorNames,
): Promise<ReturnType<typeof identityNamesOf> | undefined> {
  const stored = await storage.get({ resource: 'configmaps', namespace: systemNamespace, name: authorityMapName });
  if (stored === undefined) return undefined;
  const { data } = JSON.parse(stored.json) as { readonly data?: AuthorityData };
  return data === undefined ? undefined : identityNamesOf(data);
}
