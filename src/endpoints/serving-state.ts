import { Injectable } from '@nestjs/common';

/** Where a serving process is in its life: starting, serving, stopping (still serving), ended. It only moves on. */
@Injectable()
export class ServingState {
  readonly startedAt = Date.now();
  private started = false;
  private stopping = false;
  private readonly end = new AbortController();

  /** Requests are taken. */
  get isStarted(): boolean {
    return this.started;
  }

  /** It is not ready for new clients any more. */
  get isStopping(): boolean {
    return this.stopping;
  }

  /** Aborted when watches are to end and nothing more is accepted. */
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
