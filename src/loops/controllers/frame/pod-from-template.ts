import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { packedSizeOf } from '../../../base/machinery/packed/object-packer.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { StoredPod } from './indexes.js';
import type { DeepPartial } from './loop-client.js';
import type { PlannedCreation } from './write-limiter.js';

/** A reference to the object that manages another one. */
export function controllerReference({ kind = '', apiVersion = '', metadata }: Readonly<ApiObject>): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * A new pod of a template, managed by `owner`: labels, annotations and finalizers of the template, and a name that will
 * be generated from that of the owner. The caller may change it.
 */
export function podFromTemplate(
  owner: Readonly<ApiObject>,
  template: Readonly<PodTemplateSpec>,
): DeepPartial<StoredPod> & { metadata: ApiObject['metadata']; spec: DeepPartial<StoredPod['spec']> } {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace ?? '',
      labels: { ...labels },
      annotations: { ...annotations },
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: cloneJson(template.spec) as DeepPartial<StoredPod['spec']>,
  };
}

/** What the write limiter needs to know about a pod before it is made from its template. */
export function plannedPod(owner: Readonly<ApiObject>, template: Readonly<PodTemplateSpec>): PlannedCreation {
  const { namespace = '' } = owner.metadata;
  return { namespace, size: packedSizeOf(template, Number.POSITIVE_INFINITY), owner };
}
