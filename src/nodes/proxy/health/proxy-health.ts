import type { Timers } from '../../../base/machinery/timers.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Family } from '../rules/family.js';

interface FamilyHealth {
  lastUpdated: number;
  /** Since when a change waits; undefined if none does. */
  waitingSince: number | undefined;
}

/** The taint of a node that is about to be taken away by what adds and removes nodes. */
const leavingTaint = 'ToBeDeletedByClusterAutoscaler';

/** Whether changes get into the rules in time, and whether the node should get packets at all. */
export class ProxyHealth {
  private readonly families = new Map<Family, FamilyHealth>();
  private node: Node | undefined;

  /** @param limitMs how long a change may wait */
  constructor(
    private readonly timers: Pick<Timers, 'now'>,
    private readonly limitMs: number,
  ) {}

  useNode(node: Node | undefined): void {
    this.node = node;
  }

  queued(family: Family): void {
    const health = this.of(family);
    health.waitingSince ??= this.timers.now();
  }

  updated(family: Family): void {
    const health = this.of(family);
    health.waitingSince = undefined;
    health.lastUpdated = this.timers.now();
  }

  get isHealthy(): boolean {
    return [...this.families.values()].every((health) => this.isTimely(health));
  }

  /** A node that is being deleted or about to be taken away gets no new packets from load balancers. */
  get isNodeEligible(): boolean {
    const { node } = this;
    if (node === undefined || node.metadata.deletionTimestamp) return false;
    return !(node.spec.taints ?? []).some(({ key }) => key === leavingTaint);
  }

  /** The document of the two pages, without whether the node is eligible. */
  document(isGood: boolean): Record<string, unknown> {
    const now = this.timers.now();
    const last = Math.max(0, ...[...this.families.values()].map(({ lastUpdated }) => lastUpdated));
    return {
      lastUpdated: new Date(isGood ? now : last).toISOString(),
      currentTime: new Date(now).toISOString(),
      healthy: this.isHealthy,
      status: Object.fromEntries(
        [...this.families].map(([family, health]) => [
          family,
          { lastUpdated: new Date(health.lastUpdated).toISOString(), healthy: this.isTimely(health) },
        ]),
      ),
    };
  }

  private isTimely({ waitingSince }: FamilyHealth): boolean {
    return waitingSince === undefined || this.timers.now() - waitingSince < this.limitMs;
  }

  private of(family: Family): FamilyHealth {
    let health = this.families.get(family);
    if (health === undefined) {
      health = { lastUpdated: this.timers.now(), waitingSince: undefined };
      this.families.set(family, health);
    }
    return health;
  }
}
