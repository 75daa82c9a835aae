import { errorText } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { findNames } from '../connection/find-names.js';

export interface ServerNamesDependencies {
  readonly api: Pick<ApiUser, 'send'>;
  readonly timers: Timers;
  readonly logger: Logger;
}

const retryMs = 1000;

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
      const { possible, names } = await findNames(api, signal);
      if (names !== undefined || possible.length === 0) return names;
      logger.info('the server has no namespace for the leases of nodes yet', {
        namespaces: possible.map(({ nodeLeaseNamespace }) => nodeLeaseNamespace),
      });
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        logger.warn(
          'could not read the names that the server uses: set --compat kubernetes for a server with the names of Kubernetes',
          {
            error: errorText(error),
          },
        );
        return undefined;
      }
      if (!signal.aborted) logger.warn('the server does not answer yet', { error: errorText(error) });
    }
    await timers.wait(retryMs, signal);
  }
  return undefined;
}
