import type { Logger } from '../../../base/observability/logger.js';
import type { AuditLoss, AuditMetrics } from '../audit-metrics.js';

/** How often lost events of a backend are logged. */
const reportMs = 10_000;

/**
 * Counts the events that a backend delivered and lost. A loss is logged at once; the losses of the following interval
 * are logged as a sum.
 */
export class Losses {
  private readonly lost = new Map<AuditLoss, number>();
  private timer: NodeJS.Timeout | undefined;
  private lastError: unknown;

  constructor(
    private readonly backend: string,
    private readonly metrics: Pick<AuditMetrics, 'wasDelivered' | 'wasDropped'>,
    private readonly logger: Pick<Logger, 'error'>,
  ) {}

  delivered(count: number): void {
    this.metrics.wasDelivered(this.backend, count);
  }

  dropped(reason: AuditLoss, count: number, error?: unknown): void {
    if (count === 0) return;
    this.metrics.wasDropped(this.backend, reason, count);
    this.lost.set(reason, (this.lost.get(reason) ?? 0) + count);
    this.lastError = error ?? this.lastError;
    if (this.timer !== undefined) return;
    this.report();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.report();
    }, reportMs).unref();
  }

  /** Logs the losses that have not been logged yet. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.report();
  }

  private report(): void {
    for (const [reason, events] of this.lost) {
      const why = this.lastError === undefined ? {} : { error: (this.lastError as Error).message ?? this.lastError };
      this.logger.error('audit events are lost', { backend: this.backend, reason, events, ...why });
    }
    this.lost.clear();
    this.lastError = undefined;
  }
}
