import { tokenExpiration } from '../../machinery/bootstrap-token.js';
import { StatusError } from '../../machinery/status-error.js';
import type { AdmittedStore } from '../../registry/store/admitted-store.js';
import type { BootstrapLoopOptions } from '../bootstrap-signer/bootstrap-signer.controller.js';
import type { ControlLoop } from '../control-loop.js';
import { reconcileOnChange } from '../reconcile-on-change.js';
import { concernsTokens, coreResource, listTokenSecrets } from '../token-secrets.js';
import { accountContext } from '../work-context.js';
import { workStore } from '../work-store.js';

/** Deletes expired bootstrap tokens (specification 3). */
export class TokenCleanerController implements ControlLoop {
  readonly name = 'token-cleaner';
  private readonly secrets: AdmittedStore;

  /** @throws Error when the registry has no secrets. */
  constructor(private readonly options: BootstrapLoopOptions) {
    const { registry } = options;
    this.secrets = workStore(coreResource(registry, 'secrets'), options);
  }

  run(signal: AbortSignal): Promise<void> {
    const { storage, timers, names } = this.options;
    return reconcileOnChange(
      {
        storage,
        timers,
        scopes: [{ resource: this.secrets.resource.storageResource, namespace: names.systemNamespace }],
        concerns: concernsTokens,
        reconcile: () => this.reconcile(signal),
      },
      signal,
    );
  }

  private async reconcile(signal: AbortSignal): Promise<number> {
    const { storage, names, timers, logger } = this.options;
    let nextIn = Number.POSITIVE_INFINITY;
    for (const secret of await listTokenSecrets(storage, this.secrets.resource, names)) {
      if (secret.metadata.deletionTimestamp !== undefined) continue;
      const dueIn = tokenExpiration(secret) - timers.now();
      if (dueIn > 0) {
        nextIn = Math.min(nextIn, dueIn);
        continue;
      }
      const { name = '', namespace = '', uid, resourceVersion } = secret.metadata;
      const context = accountContext(this.name, names, timers.now(), signal);
      const preconditions = { uid, resourceVersion };
      try {
        await this.secrets.delete(context, namespace, name, { preconditions });
        logger.info('an expired bootstrap token was deleted', { secret: name });
      } catch (error) {
        // Deleted or changed meanwhile: that change triggers another check.
        const isOver = error instanceof StatusError && (error.reason === 'NotFound' || error.reason === 'Conflict');
        if (!isOver) throw error;
      }
    }
    return nextIn;
  }
}
