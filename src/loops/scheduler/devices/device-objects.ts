import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { DeviceClass } from '../../../objects/apis/resource/v1/device-class.types.js';
import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import type {
  DeviceRequestAllocationResult,
  ResourceClaim,
} from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { ResourceSlice } from '../../../objects/apis/resource/v1/resource-slice.types.js';

export type StoredDeviceClaim = ResourceClaim & ApiObject;
export type StoredDeviceClass = DeviceClass & ApiObject;
export type StoredSlice = ResourceSlice & ApiObject;

/** The names of a device, which together are its identity. */
export interface DeviceName {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** The identity of a device as one string: `<driver>/<pool>/<device>`. */
export function deviceId({ driver, pool, device }: DeviceName): string {
  return `${driver}/${pool}/${device}`;
}

/** The identity of a pool of devices as one string. */
export function poolId(driver: string, pool: string): string {
  return `${driver}/${pool}`;
}

/** A device, or a share of it, that a claim has: those for administrators do not count. */
export function isInUseBy({ adminAccess }: DeviceRequestAllocationResult): boolean {
  return adminAccess !== true;
}

/** The objects that decide which devices a pod gets. All functions read from memory. */
export interface DeviceObjects {
  readonly claim: (namespace: string, name: string) => StoredDeviceClaim | undefined;
  /** The claim that a scheduler made for the extended resources of a pod. */
  readonly extendedClaimOf: (podUid: string) => StoredDeviceClaim | undefined;
  readonly deviceClass: (name: string) => StoredDeviceClass | undefined;
  /** The class whose devices an extended resource stands for. */
  readonly classOfResource: (resource: string) => StoredDeviceClass | undefined;
  /** The slices that name the node. */
  readonly slicesOfNode: (node: string) => Iterable<StoredSlice>;
  /** The slices that do not name a node. */
  readonly sharedSlices: () => Iterable<StoredSlice>;
  readonly slicesOfPool: (id: string) => Iterable<StoredSlice>;
  readonly taintRules: () => Iterable<DeviceTaintRule>;
  /** The allocations of a device, or of shares of it, without those for administrators; also ones about to be written. */
  readonly usesOf: (id: string) => readonly DeviceRequestAllocationResult[];
  /** Whether an allocation of the claim is about to be written. */
  readonly isBeingAllocated: (claimUid: string) => boolean;
}
