import type { ResourceClaim } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import { clientMetadata, keepField, keepMetadata } from '../../../objects/registry/definition/parent-subresources.js';
import type { PartSubresource } from '../../../objects/registry/subresource-definition.js';
import { dropClosedStatusFields } from '../versions/closed-gates.js';
import type { ClaimRules } from './claim-rules.js';
import { deviceKey, validateClaimStatus } from './claim-status.validation.js';

/** `status` of claims: what the scheduler allocated, who uses it, and what drivers report about the devices. */
export function claimStatusSubresource(rules: ClaimRules): PartSubresource {
  return {
    type: 'part',
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    resetFields: { 'f:metadata': {}, 'f:spec': {} },
    prepareForUpdate: (_context, object, old) => {
      keepField(object, old, 'spec');
      keepMetadata(object, old, clientMetadata);
      const claim = object as unknown as ResourceClaim;
      dropClosedStatusFields(claim.status);
      dropDeallocatedDevices(claim, old as unknown as ResourceClaim);
    },
    validateUpdate: (_context, object, old) => [
      ...rules.late.of(object),
      ...validateClaimStatus(object as unknown as ResourceClaim, old as unknown as ResourceClaim),
    ],
  };
}

/** Removes the status of devices that are no longer allocated: clients that deallocate need not know about it. */
function dropDeallocatedDevices({ status }: ResourceClaim, { status: old }: ResourceClaim): void {
  const allocated = new Set((status.allocation?.devices.results ?? []).map(deviceKey));
  const gone = new Set((old.allocation?.devices.results ?? []).map(deviceKey).filter((key) => !allocated.has(key)));
  const devices = (status.devices ?? []).filter((device) => !gone.has(deviceKey(device)));
  if (devices.length === 0) delete status.devices;
  else status.devices = devices;
}
