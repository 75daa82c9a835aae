export interface ClientBudgetsOptions {
  /** Queries of one client in a second; as many may come at once. 0: no limit. */
  readonly perSecond: number;
  /** Clients that are remembered at a time. */
  readonly mostClients: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsed: () => number;
}

interface Budget {
  left: number;
  at: number;
}

/** How many queries each client may send: one that sends too many harms itself only. */
export class ClientBudgets {
  private readonly budgets = new Map<string, Budget>();

  constructor(private readonly options: ClientBudgetsOptions) {}

  /** Takes a query of a client. @returns whether it may be answered */
  take(client: string): boolean {
    const { perSecond, mostClients, elapsed } = this.options;
    if (perSecond === 0) return true;
    const now = elapsed();
    let budget = this.budgets.get(client);
    if (budget === undefined) {
      // Those that were seen first go: their budgets are most likely full.
      if (this.budgets.size >= mostClients) this.budgets.delete(this.budgets.keys().next().value ?? '');
      budget = { left: perSecond, at: now };
      this.budgets.set(client, budget);
    }
    budget.left = Math.min(perSecond, budget.left + ((now - budget.at) * perSecond) / 1000);
    budget.at = now;
    if (budget.left < 1) return false;
    budget.left -= 1;
    return true;
  }
}
