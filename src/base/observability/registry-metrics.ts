import { readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import { stabilityOf } from './metric-stability.js';

/** The value with which Linux reports that memory has no limit. */
const unlimitedBytes = 2 ** 64;

/** Registers metrics about the registry, and operating system metrics that the library leaves out. */
export function registerRegistryMetrics(registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: 'registered_metrics_total',
    help: 'Metrics of this process, by the stability that the release gives them; INTERNAL for those of this program alone.',
    labelNames: ['stability_level', 'deprecated_version'],
    registers,
    collect() {
      this.reset();
      for (const { name } of registry.getMetricsAsArray()) {
        this.inc({ stability_level: stabilityOf(name) ?? 'INTERNAL', deprecated_version: '' });
      }
    },
  });
  for (const [name, help] of [
    ['hidden_metrics_total', 'Metrics that are hidden because they are deprecated: none are.'],
    ['disabled_metrics_total', 'Metrics that a flag switched off: none can be.'],
  ] as const) {
    new Counter({ name, help, registers });
  }
  if (process.platform !== 'linux') return;
  for (const [name, column, help] of [
    [
      'process_network_receive_bytes_total',
      'InOctets',
      'Bytes received over the network, by all processes of its namespace.',
    ],
    [
      'process_network_transmit_bytes_total',
      'OutOctets',
      'Bytes sent over the network, by all processes of its namespace.',
    ],
  ] as const) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        const bytes = networkBytes(column);
        if (bytes === undefined) return;
        this.reset();
        this.inc(bytes);
      },
    });
  }
  new Gauge({
    name: 'process_virtual_memory_max_bytes',
    help: 'Most virtual memory that the process may have.',
    registers,
    collect() {
      const [, limit] = /^Max address space\s+(\S+)/m.exec(readOwn('limits')) ?? [];
      if (limit !== undefined) this.set(limit === 'unlimited' ? unlimitedBytes : Number(limit));
    },
  });
}

/** A column of the kernel's extended IP counters. */
function networkBytes(column: string): number | undefined {
  const [names, values] = readOwn('net/netstat')
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '));
  const place = names?.indexOf(column) ?? -1;
  return place < 0 ? undefined : Number(values?.[place]);
}

function readOwn(file: string): string {
  try {
    return readFileSync(`/proc/self/${file}`, 'utf8');
  } catch {
    return '';
  }
}
