import { Injectable } from '@nestjs/common';

/** The phase of a serving process: starting, serving, stopping (still serving), ended. It only moves forward. */
@Injectable()
export class ServingState {
  readonly startedAt = Date.now();
  private started = false;
  private stopping = false;
  private readonly end = new AbortController();

  /** Whether requests are accepted. */
  get isStarted(): boolean {
    return this.started;
  }

  /** Whether the process no longer accepts new clients. */
  get isStopping(): boolean {
    return this.stopping;
  }

  /** Aborted when watches must end and no new requests are accepted. */
  get ended(): AbortSignal {
    return this.end.signal;
  }

  markStarted(): void {
    this.started = true;
  }

  markStopping(): void {
    this.stopping = true;
  }

  markEnded(): void {
    this.end.abort();
  }
}
