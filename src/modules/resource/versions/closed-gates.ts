import type { DeviceClaim } from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { ResourceClaimStatus } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { ResourceSliceSpec } from '../../../objects/apis/resource/v1/resource-slice.types.js';

/** Silently drops fields of features that are not supported yet, as servers with closed feature gates do. */
export function dropClosedClaimFields(claim: DeviceClaim): void {
  for (const { exactly, firstAvailable = [] } of claim.requests ?? []) {
    for (const wanted of exactly === undefined ? firstAvailable : [exactly, ...firstAvailable]) {
      delete wanted.derivedAttributes;
    }
  }
}

/** Like {@link dropClosedClaimFields}, for the status of a claim. */
export function dropClosedStatusFields({ allocation }: ResourceClaimStatus): void {
  for (const result of allocation?.devices.results ?? []) delete result.skipNodeOperations;
}

/** Like {@link dropClosedClaimFields}, for a slice. */
export function dropClosedSliceFields(spec: ResourceSliceSpec): void {
  delete spec.partitionTypeAttribute;
  delete spec.skipNodeOperations;
  for (const device of spec.devices ?? []) {
    delete device.nodeAllocatableResources;
    for (const consumption of device.consumesCounters ?? []) delete consumption.compatibilityGroups;
    for (const attribute of Object.values(device.attributes ?? {})) {
      delete attribute.ints;
      delete attribute.bools;
      delete attribute.strings;
      delete attribute.versions;
    }
  }
}
