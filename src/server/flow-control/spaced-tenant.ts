import { tenantOf } from '../../base/machinery/tenant-of.js';

const systemPrefix = 'system:';
const accountPrefix = 'system:serviceaccount:';
/** Only administrators make accounts there: control loops and operators of the whole cluster. */
const systemAccountPrefix = 'system:serviceaccount:kube-system:';
const anonymous = 'system:anonymous';

/**
 * The tenant whose requests are spaced in favour of others: a user, the service accounts of a namespace, or all strangers.
 * Undefined for the components of the cluster, which work for everybody.
 */
export function spacedTenant(user: string): string | undefined {
  if (!user.startsWith(systemPrefix) || user === anonymous) return user;
  return user.startsWith(accountPrefix) && !user.startsWith(systemAccountPrefix) ? tenantOf(user) : undefined;
}
