import { Counter, Gauge, type Registry } from 'prom-client';
import type { AuditLevel } from './audit-policy.js';

/** Why a backend lost events. */
export type AuditLoss = 'buffer' | 'failure' | 'size' | 'shutdown';

/** The metrics of the audit trail; the first four have the names that operators of API servers know. */
export class AuditMetrics {
  private readonly events: Counter;
  private readonly errors: Counter<'plugin'>;
  private readonly levels: Counter<'level'>;
  private readonly rejected: Counter;
  private readonly delivered: Counter<'backend'>;
  private readonly dropped: Counter<'backend' | 'reason'>;
  private readonly waiting: Gauge<'backend'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.events = new Counter({
      name: 'apiserver_audit_event_total',
      help: 'Audit events made and handed to the backends.',
      registers,
    });
    this.errors = new Counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that a backend did not take, by plugin.',
      labelNames: ['plugin'],
      registers,
    });
    this.levels = new Counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests by the level that the audit policy gives them.',
      labelNames: ['level'],
      registers,
    });
    this.rejected = new Counter({
      name: 'apiserver_audit_requests_rejected_total',
      help: 'Requests refused because their arrival could not be written to the audit trail.',
      registers,
    });
    this.delivered = new Counter({
      name: 'apiserver_audit_delivered_events_total',
      help: 'Audit events that a backend has written or posted.',
      labelNames: ['backend'],
      registers,
    });
    this.dropped = new Counter({
      name: 'apiserver_audit_dropped_events_total',
      help: 'Audit events that a backend lost: buffer full, delivery failed, event too long, time up at the end of the process.',
      labelNames: ['backend', 'reason'],
      registers,
    });
    this.waiting = new Gauge({
      name: 'apiserver_audit_waiting_events',
      help: 'Audit events on their way to a backend.',
      labelNames: ['backend'],
      registers,
    });
  }

  made(): void {
    this.events.inc();
  }

  level(level: AuditLevel): void {
    this.levels.inc({ level });
  }

  refusedRequest(): void {
    this.rejected.inc();
  }

  wasDelivered(backend: string, count: number): void {
    this.delivered.inc({ backend }, count);
  }

  wasDropped(backend: string, reason: AuditLoss, count: number): void {
    this.errors.inc({ plugin: backend }, count);
    this.dropped.inc({ backend, reason }, count);
  }

  /** Reads the number of waiting events at every scrape. */
  watchWaiting(backend: string, count: () => number): void {
    const { waiting } = this;
    const before = this.waiting as unknown as { collect?: () => void };
    const inner = before.collect;
    before.collect = () => {
      inner?.call(waiting);
      waiting.set({ backend }, count());
    };
  }
}
