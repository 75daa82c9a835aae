import { Gauge, type Registry } from 'prom-client';
import type { FeatureGates } from './feature-gates.js';

/** Shows which features are on: 1 or 0 for each gate. A settled feature has an empty stage, as dashboards expect. */
export function featureMetrics(registry: Registry, features: FeatureGates): Gauge<'name' | 'stage'> {
  const gauge = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Features of this process by name and stage: 1 when on, 0 when off.',
    labelNames: ['name', 'stage'],
    registers: [registry],
  });
  for (const { name, stage, isOn } of features.states()) {
    gauge.set({ name, stage: stage === 'GA' ? '' : stage }, isOn ? 1 : 0);
  }
  return gauge;
}
