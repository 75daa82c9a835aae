import type { FlowHash } from './flow-hash.js';

/** How long a flow counts as present after its last request, in milliseconds. */
const presentMs = 1000;

/** Detects whether requests of more than one flow arrived recently, without a list of flows. */
export class SeveralFlows {
  private last: FlowHash | undefined;
  private changedAt = Number.NEGATIVE_INFINITY;

  saw(flow: FlowHash, now: number): void {
    if (this.last === flow) return;
    if (this.last !== undefined) this.changedAt = now;
    this.last = flow;
  }

  at(now: number): boolean {
    return now - this.changedAt < presentMs;
  }
}
