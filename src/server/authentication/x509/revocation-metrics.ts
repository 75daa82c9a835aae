import { Counter, Gauge, type Registry } from 'prom-client';
import type { ReloadStatus } from '../../../base/observability/reload-metrics.js';

/** Metrics of reading the revocation lists of client certificates from their file. */
export class RevocationMetrics {
  private readonly reloads: Counter<'status'>;
  private readonly lastReload: Gauge<'status'>;
  private count: () => number = () => 0;

  constructor(registry: Registry) {
    const registers = [registry];
    this.reloads = new Counter({
      name: 'plinth_client_crl_reloads_total',
      help: 'Times that the changed file of --client-crl-file was read again, by outcome.',
      labelNames: ['status'],
      registers,
    });
    for (const status of ['success', 'failure']) this.reloads.inc({ status }, 0);
    this.lastReload = new Gauge({
      name: 'plinth_client_crl_last_reload_timestamp_seconds',
      help: 'When the changed file of --client-crl-file was last read again, by outcome.',
      labelNames: ['status'],
      registers,
    });
    const count = () => this.count();
    new Gauge({
      name: 'plinth_client_crl_revoked_certificates',
      help: 'Certificates that the revocation lists in force name.',
      registers,
      collect() {
        this.set(count());
      },
    });
  }

  /** @param count the certificates that are revoked at the moment */
  follow(count: () => number): void {
    this.count = count;
  }

  /** @param now milliseconds since the epoch */
  reloaded(status: ReloadStatus, now: number): void {
    this.reloads.inc({ status });
    this.lastReload.set({ status }, now / 1000);
  }
}
