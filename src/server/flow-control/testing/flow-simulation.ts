import { FlowHasher } from '../flow-hasher.js';
import { Ticket } from '../queue.js';
import type { QueueSet } from '../queue-set.js';
import type { QueueTimers } from '../queue-timers.js';
import { oneSeat, type WorkEstimate } from '../work.js';

/** Time that passes only when the test advances it. */
export class SimulatedTime implements QueueTimers {
  private time = 0;
  private readonly events: { readonly at: number; readonly run: () => void; isOff: boolean }[] = [];

  elapsed = (): number => this.time;

  after = (milliseconds: number, run: () => void): (() => void) => {
    const event = { at: this.time + milliseconds, run, isOff: false };
    this.events.push(event);
    return () => {
      event.isOff = true;
    };
  };

  /** Runs all timers that are due by `end`, in the order of time. */
  advanceTo(end: number): void {
    for (;;) {
      let next = -1;
      for (const [i, { at }] of this.events.entries()) {
        if (at <= end && (next < 0 || at < (this.events[next] as { at: number }).at)) next = i;
      }
      if (next < 0) break;
      const [event] = this.events.splice(next, 1);
      if (event === undefined || event.isOff) continue;
      this.time = Math.max(this.time, event.at);
      event.run();
    }
    this.time = end;
  }

  advance(milliseconds: number): void {
    this.advanceTo(this.time + milliseconds);
  }
}

export interface SimulatedFlow {
  readonly name: string;
  /** Number of concurrent requests; each is followed by the next one. */
  readonly clients: number;
  /** How long each request takes once it has its seats, in milliseconds. */
  readonly takesMs: number;
  readonly work?: WorkEstimate;
  /** How long a client waits before its next request. Default: 0. */
  readonly pauseMs?: number;
}

export interface FlowOutcome {
  done: number;
  refused: number;
  /** Number of seats multiplied by the seconds for which they were taken. */
  seatSeconds: number;
  /** How long requests waited, in milliseconds. */
  readonly waits: number[];
}

/** Deals the same hands in every run. */
export const simulatedHasher = new FlowHasher(Buffer.alloc(32));

/** Simulates clients that send one request after the other to a queue set, and counts the outcomes. */
export function simulate(
  set: QueueSet<string>,
  time: SimulatedTime,
  flows: readonly SimulatedFlow[],
  forMs: number,
): Map<string, FlowOutcome> {
  const outcomes = new Map<string, FlowOutcome>();
  const end = time.elapsed() + forMs;
  for (const flow of flows) {
    const { name, clients, takesMs, work = oneSeat, pauseMs = 0 } = flow;
    const outcome: FlowOutcome = { done: 0, refused: 0, seatSeconds: 0, waits: [] };
    outcomes.set(name, outcome);
    const again = (): void => void time.after(Math.max(pauseMs, 0.001), send);
    const run = (ticket: Ticket<string>): void => {
      outcome.waits.push(time.elapsed() - ticket.arrivedAt);
      time.after(takesMs, () => {
        set.leave(ticket);
        outcome.done++;
        outcome.seatSeconds += (work.initialSeats * takesMs) / 1000;
        again();
      });
    };
    const send = (): void => {
      if (time.elapsed() >= end) return;
      const ticket = set.enter(simulatedHasher.of('schema', name), work, name);
      if (!(ticket instanceof Ticket)) {
        outcome.refused++;
        time.after(50, send);
      } else if (ticket.state === 'running') run(ticket);
      else ticket.onDispatch = () => run(ticket);
    };
    for (let i = 0; i < clients; i++) send();
  }
  time.advanceTo(end);
  return outcomes;
}
