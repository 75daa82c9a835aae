import { Counter, type Registry } from 'prom-client';
import type { AdmissionAttributes } from '../../attributes.js';
import type { PolicyMode } from './namespace-policy.js';
import type { LevelVersion } from './policy-version.js';

const requestLabels = ['request_operation', 'resource', 'subresource'] as const;

/** Counts evaluations and exemptions, under the metric names that operators know. */
export class PodSecurityMetrics {
  private readonly evaluations: Counter<
    (typeof requestLabels)[number] | 'decision' | 'policy_level' | 'policy_version' | 'mode'
  >;
  private readonly exemptions: Counter<(typeof requestLabels)[number]>;

  /** @param newestMinor the newest version that is known; all later ones are counted as one */
  constructor(
    registry: Registry,
    private readonly newestMinor: number,
  ) {
    const registers = [registry];
    this.evaluations = new Counter({
      name: 'pod_security_evaluations_total',
      help: 'Pods and pod templates judged by the Pod Security Standards, by policy, mode and decision.',
      labelNames: ['decision', 'policy_level', 'policy_version', 'mode', ...requestLabels],
      registers,
    });
    this.exemptions = new Counter({
      name: 'pod_security_exemptions_total',
      help: 'Requests exempt from the Pod Security Standards.',
      labelNames: requestLabels,
      registers,
    });
  }

  countEvaluation(
    isAllowed: boolean,
    mode: PolicyMode,
    { level, version }: LevelVersion,
    attributes: AdmissionAttributes,
  ): void {
    const isKnown = version.minor <= this.newestMinor || version.text === 'latest';
    this.evaluations.inc({
      decision: isAllowed ? 'allow' : 'deny',
      policy_level: level,
      policy_version: isKnown ? version.text : 'future',
      mode,
      ...labelsOf(attributes),
    });
  }

  countExemption(attributes: AdmissionAttributes): void {
    this.exemptions.inc(labelsOf(attributes));
  }
}

function labelsOf({ operation, resource, subresource }: AdmissionAttributes) {
  return {
    request_operation: operation.toLowerCase(),
    resource: resource.resource === 'pods' ? 'pod' : 'controller',
    subresource,
  };
}
