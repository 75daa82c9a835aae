import { privilegedGroup } from '../../../base/machinery/authorizer.js';
import { internalContext } from '../../../base/machinery/internal-context.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Rest } from '../work-queue.js';

/**
 * The user that a control loop acts as (specification 5.4): a service account of the system namespace. It has the rights
 * that the authorization modes give it.
 */
export function loopUser(account: string, { systemNamespace }: Pick<VendorNames, 'systemNamespace'>): UserInfo {
  return Object.freeze({
    name: `system:serviceaccount:${systemNamespace}:${account}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${systemNamespace}`, 'system:authenticated'],
    extra: {},
  });
}

/**
 * The user of the loops that are part of the server itself: it has all rights, whatever the authorization modes are.
 */
export const serverUser: UserInfo = Object.freeze({
  name: 'system:apiserver',
  uid: '',
  groups: [privilegedGroup, 'system:authenticated'],
  extra: {},
});

/**
 * The user of an upstream component, such as `system:kube-scheduler`. A loop acts as this user where no service account
 * has the rights.
 */
export function componentUser(component: string): UserInfo {
  return Object.freeze({ name: `system:${component}`, uid: '', groups: ['system:authenticated'], extra: {} });
}

/** The name and the account of the loop that fills aggregated roles. */
export const roleAggregationAccount = 'clusterrole-aggregation-controller';

/** The name and the account of the scheduler. */
export const schedulerAccount = 'kube-scheduler';

/** One run of a loop's `reconcile`: the acting user, the start time, and the writes. */
export class ReconcileContext {
  readonly context: RequestContext;
  private version = 0n;

  /**
   * @param now milliseconds since the epoch
   * @param rest waits without holding up the work for other namespaces
   */
  constructor(
    user: UserInfo,
    readonly account: string,
    readonly now: number,
    readonly signal: AbortSignal,
    readonly rest: Rest = (wait) => wait(),
  ) {
    this.context = internalContext(user, now, signal, `plinth/${account}`);
  }

  /** Records a write. The next run for the same key begins when the informers of the loop show it. */
  wrote(version: bigint | undefined): void {
    if (version !== undefined && version > this.version) this.version = version;
  }

  /** The newest version that was written; 0 when nothing was. */
  get written(): bigint {
    return this.version;
  }
}
