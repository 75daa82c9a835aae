import { isDeepStrictEqual } from 'node:util';
import type { FieldPattern } from '../../../base/machinery/field-set/index.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { applyPodLevelDefaults } from '../../../objects/apis/core/v1/pod-level-resources.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { clientMetadata, keepMetadata } from '../../../objects/registry/definition/parent-subresources.js';
import type { PartSubresource } from '../../../objects/registry/subresource-definition.js';
import { countGeneration } from './kept-parts.js';
import { validatePodResize } from './pod-resize.validation.js';

const ofContainer: FieldPattern = { '*': { 'f:resources': 'all', 'f:resizePolicy': 'all' } };

/** The path that changes the resources of a pod and of its containers while it runs. */
export function resizePath(options: PodValidationOptions): PartSubresource {
  return {
    type: 'part',
    name: 'resize',
    verbs: ['get', 'patch', 'update'],
    ownedFields: { 'f:spec': { 'f:containers': ofContainer, 'f:initContainers': ofContainer } },
    prepareForUpdate: (_context, object, old) => keepAllButResources(object as unknown as Pod, old as unknown as Pod),
    validateUpdate: (_context, object, old) =>
      validatePodResize(object as unknown as Pod, old as unknown as Pod, options),
  };
}

/** Carries over everything but resources and resize policies; changes `pod`. */
function keepAllButResources(pod: Pod, live: Pod): void {
  const { containers, initContainers = [], resources } = pod.spec;
  const known = live.spec.initContainers ?? [];
  // Added, removed or moved containers stay in the object, so that validation finds and refuses them.
  const isSame = (containers ?? []).length === (live.spec.containers ?? []).length;
  if (isSame && initContainers.length === known.length) {
    pod.spec = { ...live.spec, containers: withResourcesOf(containers ?? [], live.spec.containers ?? []) };
    if (live.spec.initContainers !== undefined) pod.spec.initContainers = withResourcesOf(initContainers, known);
    if (resources !== undefined) pod.spec.resources = resources;
    pod.status = live.status;
    keepMetadata(pod, live, clientMetadata);
  }
  // A client that does not know the resources of pods leaves them out.
  if (pod.spec.resources === undefined && live.spec.resources !== undefined) {
    pod.spec.resources = cloneJson(live.spec.resources);
  }
  applyPodLevelDefaults(pod.spec);
  countGeneration(pod, live);
}

/**
 * The live containers with the wanted resources; the wanted containers unchanged if any of them has a different name.
 */
function withResourcesOf(wanted: readonly Container[], live: readonly Container[]): Container[] {
  if (wanted.some(({ name }, i) => name !== live[i]?.name)) return [...wanted];
  return live.map((container, i) => {
    const { resources, resizePolicy } = wanted[i] as Container;
    const { resizePolicy: before, ...rest } = container;
    if (isDeepStrictEqual(resizePolicy, before)) return { ...container, resources };
    return { ...rest, resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) };
  });
}
