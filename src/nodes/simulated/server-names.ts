import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import { upstreamSuffix, type VendorNames, vendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { ApiError, type ApiUser } from '../connection/api-connection.js';

export interface ServerNamesDependencies {
  readonly api: Pick<ApiUser, 'send'>;
  readonly timers: Timers;
  readonly logger: Logger;
}

const retryMs = 1000;
const leaseGroup = /^coordination\.(.+)$/;

/**
 * The names that a server uses, by the suffix of its groups and the namespace of its node leases. Waits until the
 * server answers and has made that namespace. Undefined when the user may not read, or the server has no leases, or
 * after the abort.
 */
export async function namesOfServer(
  { api, timers, logger }: ServerNamesDependencies,
  signal: AbortSignal,
): Promise<VendorNames | undefined> {
  while (!signal.aborted) {
    try {
      const { groups } = await api.send<{ groups: { name: string }[] }>('GET', '/apis', { signal });
      const suffixes = groups.flatMap(({ name }) => leaseGroup.exec(name)?.[1] ?? []);
      const [suffix] = suffixes;
      if (suffix === undefined) return undefined;
      const known = [vendorNames(suffix), ...(suffix === upstreamSuffix ? [vendorNames(suffix, 'kubernetes')] : [])];
      for (const names of known) if (await hasNamespace(api, names.nodeLeaseNamespace, signal)) return names;
      logger.info('the server has no namespace for the leases of nodes yet', {
        namespaces: known.map(({ nodeLeaseNamespace }) => nodeLeaseNamespace),
      });
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        logger.warn('the names of the server are not known: --compat kubernetes is for one with those of Kubernetes', {
          error: errorText(error),
        });
        return undefined;
      }
      if (!signal.aborted) logger.warn('the server does not answer yet', { error: errorText(error) });
    }
    await timers.wait(retryMs, signal);
  }
  return undefined;
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
