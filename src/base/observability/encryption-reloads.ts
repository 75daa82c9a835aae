import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the metrics about reloads of changed encryption providers, and returns their counter. */
export function encryptionReloads(registry: Registry): (outcome: 'success' | 'failure') => void {
  const labelNames = ['status'] as const;
  const reloads = new Counter({
    name: 'apiserver_encryption_config_controller_automatic_reloads_total',
    help: 'Changed files of encryption providers that were taken in, or not.',
    labelNames,
    registers: [registry],
  });
  const at = new Gauge({
    name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
    help: 'When a changed file of encryption providers was last taken in, or not.',
    labelNames,
    registers: [registry],
  });
  return (status) => {
    reloads.inc({ status });
    at.set({ status }, Date.now() / 1000);
  };
}
