import type { Authorizer, AuthorizerAttributes } from '../../base/machinery/authorizer.js';
import type { Timers } from '../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { loopUser } from './frame/reconcile-context.js';

const pauseMs = 50;
const longestMs = 15_000;

/** Rights of the default policy, by the account that has them: they are written together with those of all other loops. */
const samples = [
  ['service-account-controller', 'create', '', 'serviceaccounts'],
  ['root-ca-cert-publisher', 'create', '', 'configmaps'],
  ['service-cidrs-controller', 'update', 'networking', 'servicecidrs'],
  ['namespace-controller', 'delete', 'apps', 'deployments'],
] as const;

/**
 * Waits until the default policy is in force, which a server writes at its first start: the loops would be refused before.
 * Gives up after 15 seconds, since an administrator may have taken rights away from loops that are switched off, and the
 * authorizer may be a webhook that does not answer. Resolves at once when `signal` is aborted.
 */
export async function untilAuthorized(
  { authorizer, names, timers }: { authorizer: Authorizer; names: VendorNames; timers: Timers },
  signal: AbortSignal,
): Promise<void> {
  const wanted = samples.map(
    ([account, verb, group, resource]): AuthorizerAttributes => ({
      user: loopUser(account, names) as AuthorizerAttributes['user'],
      verb,
      isResourceRequest: true,
      namespace: names.systemNamespace,
      apiGroup: group === '' ? '' : groupName(group, names),
      apiVersion: 'v1',
      resource,
      subresource: '',
      name: '',
      path: '',
    }),
  );
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const ask = async (): Promise<void> => {
    while (!either.aborted) {
      const decisions = await Promise.all(wanted.map((attributes) => isAllowed(authorizer, attributes)));
      if (decisions.every((allowed) => allowed)) return;
      await timers.wait(pauseMs, either);
    }
  };
  await Promise.race([ask(), timers.wait(longestMs, either)]);
  done.abort();
}

/** Whether the authorizer allows it now; false while it can't decide. */
async function isAllowed(authorizer: Authorizer, attributes: AuthorizerAttributes): Promise<boolean> {
  try {
    return (await authorizer.authorize(attributes)).decision === 'allow';
  } catch {
    return false;
  }
}
