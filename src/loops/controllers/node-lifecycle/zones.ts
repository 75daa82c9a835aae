/** How many of the nodes of a zone are ready. */
export interface ZoneCount {
  ready: number;
  notReady: number;
}

/**
 * The state of a zone. `full`: no node is ready. `partial`: so many are not ready that the zone itself may be
 * disturbed.
 */
export type ZoneState = 'normal' | 'partial' | 'full';

/** How fast nodes that are not ready lose their pods. */
export interface EvictionRates {
  /** Nodes per second in a zone. */
  readonly rate: number;
  /** Nodes per second in a large zone that is partially disturbed. */
  readonly secondaryRate: number;
  /** A zone is partially disturbed when at least this share of its nodes is not ready. */
  readonly unhealthyThreshold: number;
  /** Zones with more nodes than this are large; small ones lose nothing while they are disturbed. */
  readonly largeSize: number;
}

/** A zone with very few nodes that are not ready is never disturbed. */
const fewNodes = 2;

export function zoneState({ ready, notReady }: ZoneCount, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'full';
  return notReady > fewNodes && notReady / (ready + notReady) >= threshold ? 'partial' : 'normal';
}

/**
 * Nodes per second that lose their pods, by zone. When every zone is fully disturbed, none does: then this process has
 * more likely lost its view of the nodes than all nodes have failed.
 */
export function evictionRates(
  zones: ReadonlyMap<string, ZoneCount>,
  rates: EvictionRates,
): ReadonlyMap<string, number> {
  const states = new Map([...zones].map(([zone, count]) => [zone, zoneState(count, rates.unhealthyThreshold)]));
  const isAllLost = isEverythingLost(zones);
  return new Map(
    [...states].map(([zone, state]) => {
      const { ready = 0, notReady = 0 } = zones.get(zone) ?? {};
      if (isAllLost) return [zone, 0];
      if (state !== 'partial') return [zone, rates.rate];
      return [zone, ready + notReady > rates.largeSize ? rates.secondaryRate : 0];
    }),
  );
}

/** Whether no node of any zone is ready. */
export function isEverythingLost(zones: ReadonlyMap<string, ZoneCount>): boolean {
  return zones.size > 0 && [...zones.values()].every(({ ready, notReady }) => ready === 0 && notReady > 0);
}
