import { Counter, Gauge, type Registry } from 'prom-client';
import type { LongRunningMemory } from './long-running-memory.js';

/** The metrics of the memory that long-running requests hold. */
export function registerLongRunningMetrics(registry: Registry, memory: LongRunningMemory): void {
  const registers = [registry];
  new Gauge({
    name: 'plinth_long_running_request_bytes',
    help: 'Estimated memory that open watches and other long-running requests keep.',
    registers,
    collect() {
      this.set(memory.bytes);
    },
  });
  new Gauge({
    name: 'plinth_long_running_request_bytes_limit',
    help: 'The most that it may be, for all users together; 0: no limit.',
    registers,
    collect() {
      this.set(memory.limitBytes);
    },
  });
  new Counter({
    name: 'plinth_long_running_requests_refused_total',
    help: 'Long-running requests refused with 429 because those of their user, or of all users, keep too much memory.',
    registers,
    collect() {
      this.reset();
      this.inc(memory.refusals);
    },
  });
}
