import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, forbidden, rootPath } from '../../../base/machinery/field-error.js';
import { structDiff } from '../../../base/machinery/schema/struct-diff.js';
import { ephemeralContainer } from '../../../objects/apis/core/v1/container.types.js';
import { applyContainerDefaults } from '../../../objects/apis/core/v1/defaults/container.defaults.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validatePodSpec } from '../../../objects/apis/core/v1/validation/pod-spec.validation.js';
import {
  clientMetadata,
  keepMetadata,
  statusSubresource,
} from '../../../objects/registry/definition/parent-subresources.js';
import type { PartSubresource } from '../../../objects/registry/subresource-definition.js';
import { countGeneration } from './kept-parts.js';
import { isMirrorPod, validateAnnotationUpdate } from './pod.validation.js';
import { validateReportedStatus } from './pod-status.validation.js';

const ephemeralPath = FieldPath.of('spec', 'ephemeralContainers');

/** The `status` path of pods, through which node agents report. */
export function podStatusPath(options: PodValidationOptions): PartSubresource {
  return statusSubresource<Pod>({
    keptMetadata: ['ownerReferences'],
    keep(object, old) {
      if (!object.status.qosClass && old.status.qosClass) object.status.qosClass = old.status.qosClass;
      keepUnknownParts(object, old);
    },
    validate: (pod, old) => [...validateAnnotationUpdate(pod, old, options), ...validateReportedStatus(pod, old)],
  });
}

const partsOfDevices = [
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
  'nodeAllocatableResourceClaimStatuses',
] as const;

/** Keeps the fields of the old status that node agents of older releases leave out because they do not know them. */
function keepUnknownParts({ status: now }: Pod, { status: before }: Pod): void {
  for (const field of partsOfDevices) {
    if (now[field] === undefined && before[field] !== undefined) Object.assign(now, { [field]: before[field] });
  }
  if (!now.observedGeneration && before.observedGeneration) now.observedGeneration = before.observedGeneration;
  // Several conditions may have the same type.
  const left = [...(before.conditions ?? [])];
  for (const condition of now.conditions ?? []) {
    const i = left.findIndex(({ type }) => type === condition.type);
    if (i < 0) continue;
    const [old] = left.splice(i, 1);
    if (!condition.observedGeneration && old?.observedGeneration) condition.observedGeneration = old.observedGeneration;
  }
}

/** The path that adds containers to a running pod, for debugging it. */
export function ephemeralContainersPath(options: PodValidationOptions): PartSubresource {
  return {
    type: 'part',
    name: 'ephemeralcontainers',
    ownedFields: { 'f:spec': { 'f:ephemeralContainers': 'all' } },
    verbs: ['get', 'patch', 'update'],
    prepareForUpdate: (_context, object, old) => {
      const pod = object as unknown as Pod;
      const live = old as unknown as Pod;
      const added = pod.spec.ephemeralContainers;
      for (const container of added ?? []) applyContainerDefaults(container);
      pod.spec = { ...live.spec };
      if (added === undefined) delete pod.spec.ephemeralContainers;
      else pod.spec.ephemeralContainers = added;
      pod.status = live.status;
      keepMetadata(pod, live, clientMetadata);
      countGeneration(pod, live);
    },
    validateUpdate: (_context, object, old) => {
      const pod = object as unknown as Pod;
      const live = old as unknown as Pod;
      // A static pod can be changed only through its file.
      if (isMirrorPod(live, options)) {
        return [forbidden(rootPath, 'static pods do not support ephemeral containers')];
      }
      return [
        ...validateAnnotationUpdate(pod, live, options),
        ...validatePodSpec(pod.spec, FieldPath.of('spec'), options),
        ...validateEphemeralUpdate(pod.spec.ephemeralContainers ?? [], live.spec.ephemeralContainers ?? []),
      ];
    },
  };
}

type Ephemeral = NonNullable<Pod['spec']['ephemeralContainers']>;

function validateEphemeralUpdate(containers: Ephemeral, old: Ephemeral): FieldError[] {
  const errors: FieldError[] = [];
  // Of several containers with the same name, the first counts.
  const byName = new Map(containers.toReversed().map((container) => [container.name, container]));
  for (const before of old) {
    const after = byName.get(before.name);
    if (after === undefined) {
      errors.push(
        forbidden(ephemeralPath, `existing ephemeral containers ${JSON.stringify(before.name)} may not be removed\n`),
      );
    } else if (!isDeepStrictEqual(after, before)) {
      const detail = `existing ephemeral containers ${JSON.stringify(before.name)} may not be changed`;
      errors.push(forbidden(ephemeralPath, `${detail}\n${structDiff(ephemeralContainer, before, after)}`));
    }
  }
  return errors;
}
