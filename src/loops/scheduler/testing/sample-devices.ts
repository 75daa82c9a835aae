import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import type { DeviceRequestAllocationResult } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import {
  type DeviceObjects,
  deviceId,
  poolId,
  type StoredDeviceClaim,
  type StoredDeviceClass,
  type StoredSlice,
} from '../devices/device-objects.js';

/** The objects of a sample cluster that decide about devices. */
export interface SampleDevices {
  readonly classes?: Readonly<Record<string, object>>;
  readonly slices?: readonly object[];
  readonly claims?: readonly object[];
  readonly rules?: readonly object[];
}

export const driver = 'gpu.example.com';

/** A slice of its own pool for a node, unless the fields say otherwise. */
export function sampleSlice(name: string, devices: readonly object[], spec: object = {}): object {
  const pool = { name, generation: 1, resourceSliceCount: 1 };
  return { metadata: { name }, spec: { driver, pool, nodeName: name, devices, ...spec } };
}

/** A claim with requests; its uid is its name. */
export function sampleClaim(name: string, requests: readonly object[], rest: object = {}, status: object = {}): object {
  return { metadata: { name, namespace: 'ns', uid: name }, spec: { devices: { requests, ...rest } }, status };
}

/** Device objects in memory, in the form in which the API returns them. */
export function sampleDevices({ classes = {}, slices = [], claims = [], rules = [] }: SampleDevices): DeviceObjects {
  const allSlices = slices as readonly StoredSlice[];
  const allClaims = claims as readonly StoredDeviceClaim[];
  const allClasses = Object.entries({ gpu: {}, ...classes }).map(([name, spec]) => {
    return { metadata: { name }, spec } as unknown as StoredDeviceClass;
  });
  const results = allClaims.flatMap(({ status }) => status?.allocation?.devices.results ?? []);
  return {
    claim: (namespace, name) =>
      allClaims.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
    extendedClaimOf: () => undefined,
    deviceClass: (name) => allClasses.find(({ metadata }) => metadata.name === name),
    classOfResource: (name) => allClasses.find(({ spec }) => spec.extendedResourceName === name),
    slicesOfNode: (node) => allSlices.filter(({ spec }) => spec.nodeName === node),
    sharedSlices: () => allSlices.filter(({ spec }) => !spec.nodeName),
    slicesOfPool: (id) => allSlices.filter(({ spec }) => poolId(spec.driver, spec.pool.name) === id),
    taintRules: () => rules as readonly DeviceTaintRule[],
    usesOf: (id) =>
      results.filter((result: DeviceRequestAllocationResult) => result.adminAccess !== true && deviceId(result) === id),
    isBeingAllocated: () => false,
  };
}
