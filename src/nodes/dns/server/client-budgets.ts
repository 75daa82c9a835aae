import { TokenBucket } from '../../../base/machinery/token-bucket.js';

export interface ClientBudgetsOptions {
  /** The most queries of one client per second, and the most at once. 0: no limit. */
  readonly perSecond: number;
  /** The most clients that are remembered. */
  readonly mostClients: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

/** So many bytes of an answer cost as much as a query. */
const bytesOfQuery = 512;

/** Limits the queries of each client, so that a client that sends too many harms only itself. */
export class ClientBudgets {
  private readonly budgets = new Map<string, TokenBucket>();

  constructor(private readonly options: ClientBudgetsOptions) {}

  /** Counts a query of a client. @returns whether it may be answered */
  take(client: string): boolean {
    return this.budgetOf(client)?.tryTake(this.options.elapsed()) ?? true;
  }

  /** Counts a long answer to a client as further queries. */
  answered(client: string, bytes: number): void {
    const further = Math.floor(bytes / bytesOfQuery);
    if (further > 0) this.budgetOf(client)?.spend(this.options.elapsed(), further);
  }

  private budgetOf(client: string): TokenBucket | undefined {
    const { perSecond, mostClients } = this.options;
    if (perSecond === 0) return undefined;
    let budget = this.budgets.get(client);
    if (budget === undefined) {
      // The clients seen first are dropped: their budgets are most likely full.
      if (this.budgets.size >= mostClients) this.budgets.delete(this.budgets.keys().next().value ?? '');
      budget = new TokenBucket(perSecond, perSecond);
      this.budgets.set(client, budget);
    }
    return budget;
  }
}
