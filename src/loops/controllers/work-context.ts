import { privilegedGroup } from '../../base/machinery/authorizer.js';
import { internalContext } from '../../base/machinery/internal-context.js';
import type { RequestContext } from '../../base/machinery/request-context.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { loopUser } from './frame/reconcile-context.js';

/**
 * The context for writes by a loop that is part of the server itself. Admission checks the rights of its user: it has
 * all of them.
 */
export function workContext(loop: string, now: number, signal: AbortSignal): RequestContext {
  const user = { name: 'system:apiserver', uid: '', groups: [privilegedGroup, 'system:authenticated'], extra: {} };
  return internalContext(user, now, signal, `plinth/${loop}`);
}

/** The context for writes by a loop under the name of its service account. */
export function accountContext(
  account: string,
  names: Pick<VendorNames, 'systemNamespace'>,
  now: number,
  signal: AbortSignal,
): RequestContext {
  return internalContext(loopUser(account, names), now, signal, `plinth/${account}`);
}
