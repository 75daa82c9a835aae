import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { StoredPod } from '../frame/indexes.js';

export type StoredNode = Node & ApiObject;

/**
 * Whether the node's agent is known to be unable to stop pods: the node is not ready, and somebody has marked it out of
 * service.
 */
export function isOutOfService(node: Readonly<StoredNode>, { labelPrefix }: Pick<VendorNames, 'labelPrefix'>): boolean {
  const isReady = (node.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
  return !isReady && (node.spec.taints ?? []).some(({ key }) => key === `node.${labelPrefix}/out-of-service`);
}

/**
 * The finished pods to delete when at most `threshold` are kept: those that were evicted first, then the oldest.
 *
 * @param threshold 0 keeps all
 */
export function surplusPods(finished: Iterable<Readonly<StoredPod>>, threshold: number): Readonly<StoredPod>[] {
  if (threshold <= 0) return [];
  const pods = [...finished];
  if (pods.length <= threshold) return [];
  return pods.sort(byEvictionAndAge).slice(0, pods.length - threshold);
}

function byEvictionAndAge(a: Readonly<StoredPod>, b: Readonly<StoredPod>): number {
  const evicted = Number(isEvicted(b)) - Number(isEvicted(a));
  if (evicted !== 0) return evicted;
  const [aCreated, bCreated] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (aCreated !== bCreated) return aCreated < bCreated ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

function isEvicted({ status }: Readonly<StoredPod>): boolean {
  return status.phase === 'Failed' && status.reason === 'Evicted';
}
