import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isForPods } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';

/** Refuses pods whose required anti-affinity uses another topology than single nodes: they could block whole zones. */
export class LimitPodHardAntiAffinityTopology implements AdmissionPlugin {
  readonly name = 'LimitPodHardAntiAffinityTopology';
  private readonly allowed: string;

  constructor({ labelPrefix }: VendorNames) {
    this.allowed = `${labelPrefix}/hostname`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  validate(attributes: AdmissionAttributes): void {
    if (!isForPods(attributes) || attributes.object === undefined) return;
    const { spec } = attributes.object as unknown as Pod;
    const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const bad = terms.find(({ topologyKey }) => topologyKey !== this.allowed);
    if (bad === undefined) return;
    const subject = 'affinity.PodAntiAffinity.RequiredDuringScheduling';
    throw refused(attributes, `${subject} has TopologyKey ${bad.topologyKey} but only key ${this.allowed} is allowed`);
  }
}
