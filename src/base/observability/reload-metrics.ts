import { createHash } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';

/** The outcome of reading a changed configuration file. */
export type ReloadStatus = 'success' | 'failure';

/** Counts reloads of a configuration file, under the names that the reference server uses. */
export class ReloadMetrics {
  private readonly reloads: Counter<'status' | 'apiserver_id_hash'>;
  private readonly lastReload: Gauge<'status' | 'apiserver_id_hash'>;
  private readonly idHash: string;

  /** @param processId name of the process, which is shown as a hash only */
  constructor(registry: Registry, subsystem: 'authentication' | 'authorization', processId: string) {
    const registers = [registry];
    const prefix = `apiserver_${subsystem}_config_controller_automatic_reload`;
    this.reloads = new Counter({
      name: `${prefix}s_total`,
      help: `Times that the changed file of --${subsystem}-config was read again, by outcome.`,
      labelNames: ['status', 'apiserver_id_hash'],
      registers,
    });
    this.lastReload = new Gauge({
      name: `${prefix}_last_timestamp_seconds`,
      help: `When the changed file of --${subsystem}-config was last read again, by outcome.`,
      labelNames: ['status', 'apiserver_id_hash'],
      registers,
    });
    this.idHash = `sha256:${createHash('sha256').update(processId).digest('hex')}`;
  }

  /** @param now milliseconds since the epoch */
  reloaded(status: ReloadStatus, now: number): void {
    const labels = { status, apiserver_id_hash: this.idHash };
    this.reloads.inc(labels);
    this.lastReload.set(labels, now / 1000);
  }
}
