import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { ClaimNotMade } from './claim-not-made.js';
import { DeviceFault } from './device-fault.js';
import type { DeviceObjects, StoredDeviceClaim } from './device-objects.js';

/** The most users of one claim. */
const mostUsers = 256;

/** The claims to devices that a pod names. Throws a DeviceFault if a claim does not exist or can't be used. */
export function claimsOf(
  { metadata, spec, status }: Pod & ApiObject,
  objects: Pick<DeviceObjects, 'claim'>,
  group: string,
): readonly StoredDeviceClaim[] {
  const { namespace = '', uid } = metadata;
  return (spec.resourceClaims ?? []).flatMap(({ name, resourceClaimName, resourceClaimTemplateName }) => {
    let claimName = resourceClaimName;
    if (claimName === undefined) {
      const made = status?.resourceClaimStatuses?.find((each) => each.name === name);
      if (made === undefined) {
        throw new ClaimNotMade(`pod "${namespace}/${metadata.name}": ResourceClaim not created yet`);
      }
      // Somebody decided that the pod needs none.
      if (made.resourceClaimName === undefined) return [];
      claimName = made.resourceClaimName;
    }
    const claim = objects.claim(namespace, claimName);
    if (claim === undefined) throw new DeviceFault(`resourceclaim.${group} "${claimName}" not found`);
    if (claim.metadata.deletionTimestamp !== undefined) {
      throw new DeviceFault(`resourceclaim "${claimName}" is being deleted`);
    }
    const isOwner = claim.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid);
    if (resourceClaimTemplateName !== undefined && isOwner !== true) {
      throw new DeviceFault(
        `ResourceClaim ${namespace}/${claimName} was not created for Pod ${namespace}/${metadata.name} (Pod is not owner)`,
      );
    }
    return [claim];
  });
}

/** Whether the claim is reserved for the pod. */
export function isReservedFor({ status }: StoredDeviceClaim, uid: string): boolean {
  return (status?.reservedFor ?? []).some((user) => user.uid === uid);
}

/** Throws a DeviceFault if a pod can't use a claim at the moment, wherever it is placed. */
export function checkUsable(claim: StoredDeviceClaim, podUid: string, objects: DeviceObjects): void {
  const { metadata, status } = claim;
  if (status?.allocation === undefined) {
    if (!objects.isBeingAllocated(metadata.uid ?? '')) return;
    const label = `${metadata.namespace}/${metadata.name}`;
    throw new DeviceFault(`resource claim ${label} is in the process of being allocated`);
  }
  if ((status.reservedFor ?? []).length < mostUsers || isReservedFor(claim, podUid)) return;
  throw new DeviceFault('resourceclaim in use');
}
