import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ServiceAccount } from '../../../objects/apis/core/v1/service-account.types.js';
import { EveryNamespaceLoop } from '../every-namespace-loop.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';

/** Keeps the service account `default` in every active namespace (specification 5.3). */
export class ServiceAccountController extends EveryNamespaceLoop<ServiceAccount & ApiObject> {
  readonly name = 'service-account-controller';

  /** @throws Error when the registry lacks service accounts. */
  constructor(dependencies: ReconcileDependencies) {
    super(dependencies, 'serviceaccounts', 'default');
  }

  protected content() {
    return {};
  }
}
