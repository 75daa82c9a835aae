import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isForPods } from '../../pods/pod-request.js';

/**
 * Lets pods that request extended resources, such as `example.com/gpu`, run on nodes that are tainted with the name of
 * the resource (specification 5.5).
 */
export class ExtendedResourceToleration implements AdmissionPlugin {
  readonly name = 'ExtendedResourceToleration';

  constructor(private readonly names: VendorNames) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): void {
    if (!isForPods(attributes) || attributes.object === undefined) return;
    const { spec } = attributes.object as unknown as Pod;
    const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
    const asked = new Set(containers.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})));
    const own = spec.tolerations ?? [];
    const has = new Set(
      own
        .filter((each) => each.operator === 'Exists' && (!each.effect || each.effect === 'NoSchedule'))
        .map(({ key }) => key),
    );
    const missing = [...asked].filter((name) => this.isExtended(name) && !has.has(name)).sort();
    if (missing.length === 0) return;
    spec.tolerations = [
      ...own,
      ...missing.map((key) => ({ key, operator: 'Exists' as const, effect: 'NoSchedule' as const })),
    ];
  }

  /** Names of built-in resources have no domain, or the project's own domain. */
  private isExtended(name: string): boolean {
    return name.includes('/') && !name.includes(`${this.names.labelPrefix}/`) && !name.startsWith('requests.');
  }
}
