import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Informer, InformerIndex } from '../../../objects/registry/informers/informer.js';

/** A Pod as the informers and clients of controllers return it. */
export type StoredPod = Pod & ApiObject;

/** The reference to the object that manages this one. */
export function controllerOf({ metadata }: Readonly<ApiObject>): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Objects by the uid of their controller. */
export function byController<T extends ApiObject>(informer: Informer<T>): InformerIndex<T> {
  return informer.index('controller', (object) => {
    const uid = controllerOf(object)?.uid;
    return uid === undefined ? [] : [uid];
  });
}

/** Objects without a controller, by namespace. */
export function orphans<T extends ApiObject>(informer: Informer<T>): InformerIndex<T> {
  return informer.index('orphans', (object) =>
    controllerOf(object) === undefined ? [object.metadata.namespace ?? ''] : [],
  );
}

/** Pods by the name of their node; pods without one are left out. */
export function podsByNode(informer: Informer<StoredPod>): InformerIndex<StoredPod> {
  return informer.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
}
