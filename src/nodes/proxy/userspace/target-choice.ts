import type { Target } from '../rules/endpoint-view.js';

/** The most clients that are remembered. */
const mostClients = 10_000;

/** Chooses endpoints for clients, and remembers each choice for the time that the service sets. */
export class TargetChoice {
  private targets: readonly Target[] = [];
  private affinityMs = 0;
  private readonly chosen = new Map<string, { readonly key: string; until: number }>();

  constructor(
    private readonly now: () => number,
    private readonly random: () => number,
  ) {}

  use(targets: readonly Target[], affinitySeconds: number): void {
    this.targets = targets;
    this.affinityMs = affinitySeconds * 1000;
    if (this.affinityMs === 0) this.chosen.clear();
  }

  has({ address, port }: Pick<Target, 'address' | 'port'>): boolean {
    return this.targets.some((target) => target.address === address && target.port === port);
  }

  /** The endpoints for a client, in the order in which to try them. */
  forClient(client: string): readonly Target[] {
    const { targets } = this;
    const kept = this.chosen.get(client);
    const isKept = kept !== undefined && kept.until > this.now();
    const known = isKept ? targets.findIndex((target) => keyOf(target) === kept.key) : -1;
    const first = known >= 0 ? known : Math.floor(this.random() * targets.length);
    return [...targets.slice(first), ...targets.slice(0, first)];
  }

  /** Remembers the endpoint of a client. */
  remember(client: string, target: Target): void {
    if (this.affinityMs === 0) return;
    this.chosen.delete(client);
    this.chosen.set(client, { key: keyOf(target), until: this.now() + this.affinityMs });
    if (this.chosen.size <= mostClients) return;
    const [oldest] = this.chosen.keys();
    if (oldest !== undefined) this.chosen.delete(oldest);
  }
}

function keyOf({ address, port }: Target): string {
  return `${address} ${port}`;
}
