import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

/** A path that changes the spec counts its states as the pod's own path does; changes `pod`. */
export function countGeneration(pod: Pod, live: Pod): void {
  if (isDeepStrictEqual(pod.spec, live.spec)) return;
  pod.metadata.generation = (live.metadata.generation ?? 0) + 1;
}
