import { Gauge, type Registry } from 'prom-client';
import type { PolicyMemory } from './policy-memory.js';

/** Registers the gauges of the access policy in memory. */
export function policyMetrics(registry: Registry, memory: PolicyMemory): void {
  const registers = [registry];
  new Gauge({
    name: 'plinth_access_policy_bytes',
    help: 'Memory of the roles and bindings that decisions use, as estimated.',
    registers,
    collect() {
      this.set(memory.bytes);
    },
  });
  new Gauge({
    name: 'plinth_access_policy_left_out',
    help: 'Roles and bindings of namespaces that are not in force, as those of the namespace take too much memory.',
    registers,
    collect() {
      this.set(memory.leftOutCount);
    },
  });
}
