import { isHugePages, isWholePages } from '../huge-pages.js';
import type { PodSpec } from '../pod-spec.types.js';
import type { PodValidationOptions } from './common.validation.js';

/**
 * The options for an update of a pod or a template: one that requests parts of huge pages, because it was stored before
 * that was refused, may continue to do so.
 */
export function updateOptions(options: PodValidationOptions, old: PodSpec | undefined): PodValidationOptions {
  return old !== undefined && asksForParts(old) ? { ...options, allowsPartPages: true } : options;
}

function asksForParts(spec: PodSpec): boolean {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return [spec.resources, ...containers.map(({ resources }) => resources)].some((resources) =>
    [resources?.limits, resources?.requests].some((amounts) =>
      Object.entries(amounts ?? {}).some(([name, amount]) => isHugePages(name) && !isWholePages(name, amount)),
    ),
  );
}
