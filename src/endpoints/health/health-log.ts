import type { Logger } from '../../observability/logger.js';
import { type HealthOutcome, isPassed } from './health-checks.js';

/**
 * Tells in the log when a check begins to fail and when it passes again, once each: probes come every second or so, and
 * while a process starts or stops failing is what they are for.
 */
export class HealthLog {
  private readonly failing = new Set<string>();

  constructor(private readonly logger: Pick<Logger, 'info'>) {}

  note(outcome: HealthOutcome): void {
    const { name, error } = outcome;
    if (isPassed(outcome)) {
      if (this.failing.delete(name)) this.logger.info('health check passes again', { check: name });
      return;
    }
    if (this.failing.has(name)) return;
    this.failing.add(name);
    this.logger.info('health check fails', { check: name, reason: reasonOf(error) });
  }
}

/** One line without a stack, with what it was caused by. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message || error.name;
  return error.cause === undefined ? own : `${own}: ${reasonOf(error.cause)}`;
}
