import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Node } from '../../../../objects/apis/core/v1/node.types.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';

/** Keeps pods off new nodes until a controller has seen that they are ready (specification 5.5). */
export class TaintNodesByCondition implements AdmissionPlugin {
  readonly name = 'TaintNodesByCondition';
  private readonly key: string;

  constructor({ labelPrefix }: VendorNames) {
    this.key = `node.${labelPrefix}/not-ready`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit({ resource, subresource, object }: AdmissionAttributes): void {
    if (resource.group !== '' || resource.resource !== 'nodes' || subresource !== '' || object === undefined) return;
    const { spec } = object as unknown as Node;
    const { key } = this;
    const taints = spec.taints ?? [];
    if (taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule')) return;
    spec.taints = [...taints, { key, effect: 'NoSchedule' }];
  }
}
