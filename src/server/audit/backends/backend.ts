import type { AuditEvent } from '../audit-event.js';

/** A place that events go to. It counts and reports what it loses. */
export interface AuditBackend {
  /** The name in metrics and in the log of the program. */
  readonly name: string;
  /** Whether a request is refused when its arrival can't be noted. */
  readonly isStrict: boolean;
  /** Whether the event was taken; a promise: when that is known, and the request waits for it. Never throws or rejects. */
  take(event: AuditEvent): boolean | Promise<boolean>;
  /** Begins work in the background, once the process serves. Events may come before. */
  start?: (() => void) | undefined;
  /** Delivers what waits, for a limited time. */
  stop(): Promise<void>;
}
