import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import { type ObjectWatchDependencies, watchObjects } from './object-watch.js';

export interface PodWatchDependencies
  extends Omit<ObjectWatchDependencies<Pod & ApiObject>, 'path' | 'query' | 'onObject'> {
  readonly node: string;
  /** Receives every new or changed pod of the node. */
  readonly onPod: (pod: Pod) => void;
}

/** Follows the pods of one node until the abort. */
export async function watchPods({ node, onPod, ...parts }: PodWatchDependencies, signal: AbortSignal): Promise<void> {
  const query = { fieldSelector: `spec.nodeName=${node}` };
  await watchObjects<Pod & ApiObject>({ ...parts, path: '/api/v1/pods', query, onObject: onPod }, signal);
}
