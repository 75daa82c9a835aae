import type { Timers } from '../../../base/machinery/timers.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Family } from '../rules/family.js';

interface FamilyHealth {
  lastUpdated: number;
  /** Since when the oldest change has been waiting; undefined if none is. */
  waitingSince: number | undefined;
}

/** The taint of a node that an autoscaler is about to remove. */
const leavingTaint = 'ToBeDeletedByClusterAutoscaler';

/** Whether changes are applied in time, and whether the node should get packets at all. */
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

  /** Load balancers send no new packets to a node that is being deleted or about to be removed. */
  get isNodeEligible(): boolean {
    const { node } = this;
    if (node === undefined || node.metadata.deletionTimestamp) return false;
    return !(node.spec.taints ?? []).some(({ key }) => key === leavingTaint);
  }

  /** The document of the two pages, without the field about the node's eligibility. */
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
