import { upstreamSuffix, type VendorNames, vendorNames } from '../../base/machinery/vendor.js';
import type { ApiUser } from './api-connection.js';
import { ApiError } from './api-error.js';

/** The names that a server can have, and those that it has. */
export interface FoundNames {
  /** The names that the server can have, recognized by the suffix of its groups; none when it serves no leases. */
  readonly possible: readonly VendorNames[];
  /** The names that it has, recognized by the namespace of its node leases; undefined until it has made that. */
  readonly names: VendorNames | undefined;
}

const leaseGroup = /^coordination\.(.+)$/;

/** The names that a server can have, by the suffix of its groups. @throws as {@link findNames} */
export async function possibleNames(api: Pick<ApiUser, 'send'>, signal: AbortSignal): Promise<readonly VendorNames[]> {
  const { groups } = await api.send<{ groups: { name: string }[] }>('GET', '/apis', { signal });
  const suffix = groups.flatMap(({ name }) => leaseGroup.exec(name)?.[1] ?? [])[0];
  if (suffix === undefined) return [];
  return [vendorNames(suffix), ...(suffix === upstreamSuffix ? [vendorNames(suffix, 'kubernetes')] : [])];
}

/** Looks once which names a server uses. @throws ApiError when the user may not read that, and what the connection throws */
export async function findNames(api: Pick<ApiUser, 'send'>, signal: AbortSignal): Promise<FoundNames> {
  const possible = await possibleNames(api, signal);
  for (const names of possible) {
    if (await hasNamespace(api, names.nodeLeaseNamespace, signal)) return { possible, names };
  }
  return { possible, names: undefined };
}

async function hasNamespace(api: Pick<ApiUser, 'send'>, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await api.send('GET', `/api/v1/namespaces/${name}`, { signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
