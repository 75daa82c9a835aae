import { TokenBucket } from '../../../base/machinery/token-bucket.js';

export interface ClientBudgetsOptions {
  /** The most queries of one client per second, and the most at once. 0: no limit. */
  readonly perSecond: number;
  /** The most clients that are remembered. */
  readonly mostClients: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

/** Limits the queries of each client, so that a client that sends too many harms only itself. */
export class ClientBudgets {
  private readonly budgets = new Map<string, TokenBucket>();

  constructor(private readonly options: ClientBudgetsOptions) {}

  /** Counts a query of a client. @returns whether it may be answered */
  take(client: string): boolean {
    const { perSecond, mostClients, elapsed } = this.options;
    if (perSecond === 0) return true;
    let budget = this.budgets.get(client);
    if (budget === undefined) {
      // The clients seen first are dropped: their budgets are most likely full.
      if (this.budgets.size >= mostClients) this.budgets.delete(this.budgets.keys().next().value ?? '');
      budget = new TokenBucket(perSecond, perSecond);
      this.budgets.set(client, budget);
    }
    return budget.tryTake(elapsed());
  }
}
