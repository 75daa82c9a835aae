import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

/** Raises the generation if the spec changes, for paths other than the pod's own. Changes `pod`. */
export function countGeneration(pod: Pod, live: Pod): void {
  if (isDeepStrictEqual(pod.spec, live.spec)) return;
  pod.metadata.generation = (live.metadata.generation ?? 0) + 1;
}
