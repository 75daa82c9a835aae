import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isForPods } from '../../pods/pod-request.js';

/** How long pods stay on nodes that are not ready or unreachable, in seconds. */
export interface TolerationSeconds {
  readonly defaultNotReadyTolerationSeconds: number;
  readonly defaultUnreachableTolerationSeconds: number;
}

/**
 * Lets pods stay for a while on nodes that are not ready or can't be reached, unless they have tolerations of their own
 * for that (specification 5.5).
 */
export class DefaultTolerationSeconds implements AdmissionPlugin {
  readonly name = 'DefaultTolerationSeconds';
  private readonly defaults: readonly (readonly [key: string, seconds: number])[];

  constructor({ labelPrefix }: VendorNames, seconds: TolerationSeconds) {
    this.defaults = [
      [`node.${labelPrefix}/not-ready`, seconds.defaultNotReadyTolerationSeconds],
      [`node.${labelPrefix}/unreachable`, seconds.defaultUnreachableTolerationSeconds],
    ];
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE' || operation === 'UPDATE';
  }

  admit(attributes: AdmissionAttributes): void {
    if (!isForPods(attributes) || attributes.object === undefined) return;
    const { spec } = attributes.object as unknown as Pod;
    const own = spec.tolerations ?? [];
    const isCovered = (key: string) =>
      own.some((each) => (!each.key || each.key === key) && (!each.effect || each.effect === 'NoExecute'));
    const missing = this.defaults.filter(([key]) => !isCovered(key));
    if (missing.length === 0) return;
    spec.tolerations = [
      ...own,
      ...missing.map(([key, tolerationSeconds]) => ({
        key,
        operator: 'Exists' as const,
        effect: 'NoExecute' as const,
        tolerationSeconds,
      })),
    ];
  }
}
