import type { Logger } from '../../../base/observability/logger.js';
import { type HealthOutcome, isPassed } from './health-checks.js';

/**
 * Logs once when a check starts to fail, and once when it passes again. Probes arrive about every second, and failures
 * during startup and shutdown are expected.
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

/** The error on one line without a stack, including the causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message || error.name;
  const more = error.cause === undefined ? '' : reasonOf(error.cause);
  // Some messages already contain those of their causes.
  return own.includes(more) ? own : `${own}: ${more}`;
}
