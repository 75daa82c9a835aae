import { Gauge, type Registry } from 'prom-client';
import type { PackedParts } from '../../base/machinery/packed/packed-parts.js';

/**
 * Measures the size of the packed (compressed) parts of objects in informers, by where they are stored: in memory or in
 * a file.
 */
export class InformerMetrics {
  constructor(registry: Registry, parts: Pick<PackedParts, 'usage'>) {
    const registers = [registry];
    new Gauge({
      name: 'plinth_informer_packed_bytes',
      help: 'Compressed text of the large parts of objects that control loops follow, by where it is: in memory, or in a file beyond the limit.',
      labelNames: ['place'],
      registers,
      collect() {
        const { memory, file } = parts.usage;
        this.set({ place: 'memory' }, memory);
        this.set({ place: 'file' }, file);
      },
    });
    new Gauge({
      name: 'plinth_informer_packed_bytes_limit',
      help: 'The most that it may be in memory.',
      registers,
      collect() {
        this.set(parts.usage.budget);
      },
    });
  }
}
