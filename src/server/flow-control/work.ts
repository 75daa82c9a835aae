/** How much of the server a request is expected to take. */
export interface WorkEstimate {
  /** Seats while the request is answered. At least 1. */
  readonly initialSeats: number;
  /** Seats after that, while watchers are told of what it changed. */
  readonly finalSeats: number;
  /** How long the final seats are taken, in milliseconds. */
  readonly additionalLatencyMs: number;
  /** Of a write: the watches that are told of it. */
  readonly watchers?: number;
}

/** The duration that a request is expected to take until it is known how long it took, in seconds. */
export const expectedSeconds = 0.003;

/** The expected work in seat-seconds. */
export function totalWork({ initialSeats, finalSeats, additionalLatencyMs }: WorkEstimate): number {
  return initialSeats * expectedSeconds + (finalSeats * additionalLatencyMs) / 1000;
}

/** A write that nobody watches. */
export const unwatchedWrite: WorkEstimate = Object.freeze({
  initialSeats: 1,
  finalSeats: 0,
  additionalLatencyMs: 0,
  watchers: 0,
});

export const oneSeat: WorkEstimate = Object.freeze({ initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 });
