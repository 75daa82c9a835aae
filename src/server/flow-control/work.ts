/** The expected cost of a request for the server. */
export interface WorkEstimate {
  /** Number of seats while the request is processed. At least 1. */
  readonly initialSeats: number;
  /** Number of seats after that, while watchers receive the change. */
  readonly finalSeats: number;
  /** How long the final seats are occupied, in milliseconds. */
  readonly additionalLatencyMs: number;
  /** For a write: the number of watches that receive it. */
  readonly watchers?: number;
}

/** The expected duration of a request in seconds, until its real duration is known. */
export const expectedSeconds = 0.003;

/** The expected work in seat-seconds. */
export function totalWork({ initialSeats, finalSeats, additionalLatencyMs }: WorkEstimate): number {
  return initialSeats * expectedSeconds + (finalSeats * additionalLatencyMs) / 1000;
}

/** The work of a write without watchers. */
export const unwatchedWrite: WorkEstimate = Object.freeze({
  initialSeats: 1,
  finalSeats: 0,
  additionalLatencyMs: 0,
  watchers: 0,
});

export const oneSeat: WorkEstimate = Object.freeze({ initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 });
