/** The share of the seats that a level's spec defines. */
export interface SeatShare {
  /** The level's share of the server's seats, in proportion to the shares of all levels. */
  readonly shares: number;
  /** Percentage of its seats that others may borrow. */
  readonly lendablePercent: number;
  /** How many seats the level may borrow, as a percentage of its own; undefined for no limit. */
  readonly borrowingLimitPercent: number | undefined;
  /** Whether the level takes as many seats as it needs, whatever its limit. */
  readonly isExempt: boolean;
}

/** The limits of a level in seats, fixed until the configuration changes. */
export interface SeatLimits {
  readonly nominal: number;
  /** The level keeps at least this many seats. */
  readonly lower: number;
  /** The level gets at most this many seats. */
  readonly upper: number;
}

/** The limits of all levels of a server that has `total` seats. A limited level has at least one seat. */
export function seatLimits(total: number, levels: readonly SeatShare[]): SeatLimits[] {
  const allShares = levels.reduce((sum, { shares }) => sum + shares, 0);
  return levels.map(({ shares, lendablePercent, borrowingLimitPercent }) => {
    const nominal = allShares > 0 ? Math.ceil((total * shares) / allShares) : 0;
    const lendable = Math.round((nominal * lendablePercent) / 100);
    const borrowing = borrowingLimitPercent === undefined ? total : Math.round((nominal * borrowingLimitPercent) / 100);
    return { nominal, lower: nominal - lendable, upper: nominal + borrowing };
  });
}

/** The recent demand of a level. */
export interface LevelDemand extends SeatLimits {
  readonly isExempt: boolean;
  /** Maximum number of seats in use or requested at any one time since the last adjustment. */
  readonly highest: number;
  /** The needed seats, smoothed over minutes. */
  readonly smoothed: number;
}

/** How the seats are currently shared. */
export interface SeatAllocation {
  readonly targets: readonly number[];
  readonly current: readonly number[];
  /** The fraction of its target that each level gets, within its limits. */
  readonly fairFraction: number;
}

/**
 * Divides the seats by demand: idle levels lend seats to busy ones. Each level keeps the seats that it needs up to its
 * nominal limit, but at least those that it never lends. The rest is divided among the levels in proportion to their
 * demand, within their upper limits.
 */
export function allocateSeats(levels: readonly LevelDemand[]): SeatAllocation {
  const total = levels.reduce((sum, { nominal }) => sum + nominal, 0);
  const least = levels.map(({ isExempt, lower, nominal, highest }) =>
    // An exempt level is never held back, so the seats that it uses are not available to others.
    Math.max(lower, isExempt ? highest : Math.min(nominal, highest)),
  );
  const targets = levels.map(({ smoothed }, i) => Math.max(least[i] as number, smoothed));
  const given = (fraction: number): number[] =>
    levels.map(({ upper, isExempt }, i) => {
      const floor = least[i] as number;
      const wanted = (targets[i] as number) * fraction;
      return Math.max(floor, isExempt ? wanted : Math.min(upper, wanted));
    });
  const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  if (sumOf(least) >= total || sumOf(targets) === 0) {
    const current = sumOf(targets) === 0 ? levels.map(({ nominal }) => nominal) : least;
    return { targets, current: current.map(Math.round), fairFraction: 0 };
  }
  // The total number of assigned seats grows with the fraction, so bisection finds the fraction that assigns all seats.
  let low = 0;
  let high = 1;
  while (sumOf(given(high)) < total && high < 2 ** 40) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (sumOf(given(middle)) < total) low = middle;
    else high = middle;
  }
  return { targets, current: given(high).map(Math.round), fairFraction: high };
}

/** The weight of the old smoothed demand at each adjustment: half of it remains after five minutes. */
const kept = 0.977;

/** The smoothed demand after one more period: it rises at once and falls slowly. */
export function smoothDemand(
  before: number,
  { average, deviation, highest }: { readonly average: number; readonly deviation: number; readonly highest: number },
): number {
  const envelope = Math.min(highest, average + deviation);
  return Math.max(envelope, kept * before + (1 - kept) * envelope);
}
