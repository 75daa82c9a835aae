import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { ApiAccess } from '../../../base/outgoing/api-access.js';
import { ApiConnection, type ApiUser } from '../../../nodes/connection/api-connection.js';
import { ApiError } from '../../../nodes/connection/api-error.js';
import { findNames } from '../../../nodes/connection/find-names.js';

/** The API as an administrator sees it, with the names that the cluster uses. */
export interface AdminApi {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly signal: AbortSignal;
}

/**
 * Works with the API of a cluster over a connection of its own.
 *
 * @throws StartupError with the server's own words when it refuses something or does not answer
 */
export async function withAdminApi<T>(
  access: ApiAccess,
  userAgent: string,
  signal: AbortSignal,
  work: (admin: AdminApi) => Promise<T>,
): Promise<T> {
  const connection = new ApiConnection(access, { userAgent });
  try {
    const api = connection.own();
    const { names } = await findNames(api, signal);
    if (names === undefined) throw new StartupError(`${access.server} is not a server of a cluster, or not ready yet`);
    return await work({ api, names, signal });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (signal.aborted) throw new StartupError('stopped');
    throw new StartupError(problemOf(error, access.server), { cause: error });
  } finally {
    connection.stop();
  }
}

function problemOf(error: unknown, server: string): string {
  if (!(error instanceof ApiError)) return `${server}: ${errorText(error)}`;
  return error.status === 401 ? `${server} refuses the credentials (${error.message})` : error.message;
}
