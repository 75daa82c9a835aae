import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { isSidecar } from '../../../../objects/quota/pod-resources.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { nodeOfPod } from '../../pods/node-of-pod.js';
import { isForPods } from '../../pods/pod-request.js';
import { refused } from '../../refused.js';

/** For each feature that nodes declare, whether a change of a pod needs it; in the order of error messages. */
const features: Readonly<Record<string, (pod: Pod, old: Pod) => boolean>> = {
  InPlacePodLevelResourcesVerticalScaling: ({ spec }, { spec: before }) => !deepEqual(spec.resources, before.resources),
  InPlacePodVerticalScalingInitContainers: ({ spec }, { spec: before }) =>
    (before.initContainers ?? []).some(
      (container, i) => !isSidecar(container) && !deepEqual(container.resources, spec.initContainers?.[i]?.resources),
    ),
};

/** Refuses changes of a running pod that need a feature its node has not declared (specification 5.5). */
export class NodeDeclaredFeatureValidator implements AdmissionPlugin {
  readonly name = 'NodeDeclaredFeatureValidator';

  constructor(private readonly objects: ObjectReader) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!isForPods(attributes) && !isForPods(attributes, 'resize')) return;
    const found = await nodeOfPod(attributes, this.objects, (pod, old) => needed(pod, old).length > 0);
    if (found === undefined) return;
    const { pod, old, node } = found;
    const declared = node.status?.declaredFeatures ?? [];
    const missing = needed(pod, old).filter((name) => !declared.includes(name));
    if (missing.length === 0) return;
    const detail = `pod update requires features ${missing.join(', ')} which are not available on node "${node.metadata.name}"`;
    throw refused(attributes, detail);
  }
}

function needed(pod: Pod, old: Pod): readonly string[] {
  return Object.entries(features).flatMap(([name, isNeeded]) => (isNeeded(pod, old) ? [name] : []));
}
