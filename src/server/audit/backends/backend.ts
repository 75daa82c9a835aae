import type { AuditEvent } from '../audit-event.js';

/** A destination of events. It counts and reports the events that it loses. */
export interface AuditBackend {
  /** The name in metrics and in the log of the program. */
  readonly name: string;
  /** Whether a request is refused when the event of its arrival can't be recorded. */
  readonly isStrict: boolean;
  /**
   * Takes an event and returns whether it was accepted; a promise means that the request waits for the outcome. Never
   * throws or rejects.
   */
  take(event: AuditEvent): boolean | Promise<boolean>;
  /** Begins background work once the process serves requests. Events may arrive before. */
  start?: (() => void) | undefined;
  /** Delivers the waiting events, for a limited time. */
  stop(): Promise<void>;
}
