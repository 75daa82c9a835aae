import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

const keptFields = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** Carries over the metadata that a path for a part of a pod does not change; changes `pod`. */
export function keepMetadata({ metadata }: Pod, live: Pod): void {
  const fields = metadata as ApiObject['metadata'] & Record<string, unknown>;
  const before = live.metadata as Record<string, unknown>;
  for (const field of keptFields) {
    if (before[field] === undefined) delete fields[field];
    else fields[field] = before[field] as never;
  }
}

/** A path that changes the spec counts its states as the pod's own path does; changes `pod`. */
export function countGeneration(pod: Pod, live: Pod): void {
  if (isDeepStrictEqual(pod.spec, live.spec)) return;
  pod.metadata.generation = (live.metadata.generation ?? 0) + 1;
}
