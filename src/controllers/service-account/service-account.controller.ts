import { EveryNamespaceLoop, type EveryNamespaceOptions } from '../every-namespace-loop.js';

/** Keeps the service account `default` in every active namespace (specification 5.3). */
export class ServiceAccountController extends EveryNamespaceLoop {
  readonly name = 'service-account-controller';

  /** @throws Error when the registry lacks namespaces or service accounts. */
  constructor(options: EveryNamespaceOptions) {
    super(options, 'serviceaccounts', 'default');
  }

  protected content(): Readonly<Record<string, unknown>> {
    return {};
  }
}
