import type { Pressure } from '../node/node-status.js';
import type { Shortage } from './eviction.js';

/** Node conditions stay true for a while after the shortage is over. */
export class Pressures {
  private readonly lastSeen = new Map<Pressure, number>();

  constructor(private readonly transitionMs: number) {}

  take(found: readonly Shortage[], now: number): ReadonlySet<Pressure> {
    for (const { pressure } of found) this.lastSeen.set(pressure, now);
    for (const [pressure, at] of this.lastSeen) if (now - at > this.transitionMs) this.lastSeen.delete(pressure);
    return new Set(this.lastSeen.keys());
  }
}
