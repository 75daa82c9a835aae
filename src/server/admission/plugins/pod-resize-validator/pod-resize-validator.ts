import { forbiddenError, type StatusError } from '../../../../base/machinery/status-error.js';
import {
  compareQuantities,
  quantityMilliValue,
  quantityOf,
  quantityValue,
} from '../../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Node } from '../../../../objects/apis/core/v1/node.types.js';
import type { PodSpec } from '../../../../objects/apis/core/v1/pod-spec.types.js';
import { podTotals } from '../../../../objects/quota/pod-resources.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { nodeOfPod } from '../../pods/node-of-pod.js';
import { isForPods } from '../../pods/pod-request.js';

/**
 * Refuses to resize a pod above what its node can ever provide, or on a node whose operating system does not support
 * resizing (specification 5.5).
 */
export class PodResizeValidator implements AdmissionPlugin {
  readonly name = 'PodResizeValidator';
  private readonly osLabel: string;

  constructor(
    private readonly objects: ObjectReader,
    { labelPrefix }: VendorNames,
  ) {
    this.osLabel = `${labelPrefix}/os`;
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!isForPods(attributes, 'resize')) return;
    const found = await nodeOfPod(attributes, this.objects);
    if (found === undefined) return;
    const { node, pod } = found;
    const os = node.metadata.labels?.[this.osLabel] ?? 'linux';
    if (os !== 'linux') {
      const detail = `pod resize is only supported on linux nodes, node "${node.metadata.name}" is "${os}"`;
      throw refusedFor(attributes, detail, 'UnsupportedPlatform');
    }
    const missing = excess(pod.spec, node);
    if (missing.length === 0) return;
    const detail = `node didn't have enough allocatable resources: ${missing.join('; ')}`;
    throw refusedFor(attributes, detail, 'NodeCapacity');
  }
}

/** The resources of which the pod requests more than its node can allocate, as human-readable messages. */
function excess(spec: PodSpec, { status }: Node): readonly string[] {
  const wanted = podTotals(spec, 'requests');
  const units = { cpu: quantityMilliValue, memory: quantityValue };
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const request = wanted.get(name);
    const most = quantityOf(status?.allocatable?.[name] ?? '0');
    if (request === undefined || compareQuantities(request, most) <= 0) return [];
    return [`${name}, requested: ${units[name](request)}, allocatable: ${units[name](most)}`];
  });
}

function refusedFor({ resource, name }: AdmissionAttributes, detail: string, reason: string): StatusError {
  return forbiddenError(resource, name, detail, [{ reason }]);
}
