import { tokenExpiration } from '../../../base/machinery/bootstrap-token.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { ReconcileLoop, type Source } from '../frame/reconcile-loop.js';
import { listTokenSecrets, longestTokenWaitMs, tokenChanges } from '../token-secrets.js';
import type { WorkOutcome } from '../work-queue.js';

/** The one key: all tokens are checked together. */
const tokens = 'tokens';

/** Deletes expired bootstrap tokens (specification 3). */
export class TokenCleanerController extends ReconcileLoop {
  readonly name = 'token-cleaner';

  protected override get queueName(): string {
    return 'token_cleaner';
  }

  protected sources(): readonly Source[] {
    return [tokenChanges(this.dependencies, tokens)];
  }

  protected async reconcile(_key: string, work: ReconcileContext): Promise<WorkOutcome> {
    let nextIn = longestTokenWaitMs;
    for (const secret of await listTokenSecrets(this.dependencies)) {
      if (secret.metadata.deletionTimestamp !== undefined) continue;
      const dueIn = tokenExpiration(secret) - work.now;
      if (dueIn > 0) {
        nextIn = Math.min(nextIn, dueIn);
        continue;
      }
      const { name, resourceVersion = '' } = secret.metadata;
      if (await this.client('', 'secrets').delete(work, secret, { resourceVersion })) {
        this.dependencies.logger.info('an expired bootstrap token was deleted', { secret: name });
      }
    }
    return nextIn;
  }
}
