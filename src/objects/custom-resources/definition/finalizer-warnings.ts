import type { ObjectMeta } from '../../../base/machinery/api-object.js';

/** Warnings about finalizers without a domain that a write adds: other projects may use the same name. */
export function finalizerWarnings({ finalizers }: ObjectMeta, old: ObjectMeta | undefined): string[] {
  return (finalizers ?? [])
    .filter((finalizer) => !finalizer.includes('/') && old?.finalizers?.includes(finalizer) !== true)
    .map((finalizer) => {
      const part = finalizer.includes('.') ? ' including a path (/)' : '';
      return (
        `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name${part} ` +
        'to avoid accidental conflicts with other finalizer writers'
      );
    });
}
