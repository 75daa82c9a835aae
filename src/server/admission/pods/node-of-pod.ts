import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ObjectReader } from '../../../objects/registry/store/storage-reader.js';
import type { AdmissionAttributes } from '../attributes.js';
import { refused } from '../refused.js';

/** A changed pod, with the node that it is on. */
export interface PlacedPod {
  readonly pod: Pod & ApiObject;
  readonly old: Pod & ApiObject;
  readonly node: Node & ApiObject;
}

/**
 * The node of a pod whose desired state changes; undefined for a pod without a node or without such a change. Throws a
 * 403 if the node is gone.
 */
export async function nodeOfPod(
  attributes: AdmissionAttributes,
  objects: ObjectReader,
  isWanted: (pod: Pod, old: Pod) => boolean = () => true,
): Promise<PlacedPod | undefined> {
  const pod = attributes.storedObject as (Pod & ApiObject) | undefined;
  const old = attributes.storedOldObject as (Pod & ApiObject) | undefined;
  const name = pod?.spec.nodeName;
  if (pod === undefined || old === undefined || !name || pod.metadata.generation === old.metadata.generation) {
    return undefined;
  }
  if (!isWanted(pod, old)) return undefined;
  const node = await objects.read({ group: '', resource: 'nodes' }, '', name);
  if (node === undefined) throw refused(attributes, `node "${name}" not found`);
  return { pod, old, node: node as Node & ApiObject };
}
