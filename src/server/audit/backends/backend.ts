import type { AuditEvent } from '../audit-event.js';

/** A destination of events. It counts and logs the events that it loses. */
export interface AuditBackend {
  /** The name in metrics and in the server's log. */
  readonly name: string;
  /** Whether a request is refused when its first event can't be recorded. */
  readonly isStrict: boolean;
  /**
   * Takes an event and returns whether it was accepted; if a promise is returned, the request waits for the outcome.
   * Never throws or rejects.
   */
  take(event: AuditEvent): boolean | Promise<boolean>;
  /** Begins background work once the process serves requests. Events may arrive earlier. */
  start?: (() => void) | undefined;
  /** Delivers the waiting events, for a limited time. */
  stop(): Promise<void>;
}
