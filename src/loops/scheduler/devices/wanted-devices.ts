import type {
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { DeviceToleration } from '../../../objects/apis/resource/v1/device-taint.types.js';
import { DeviceFault } from './device-fault.js';
import type { DeviceObjects, StoredDeviceClaim, StoredDeviceClass } from './device-objects.js';

/** One way to satisfy a request: the request itself, or one of its alternatives. */
export interface WantedDevices {
  /** `<request>` or `<request>/<alternative>`. */
  readonly name: string;
  /** The request, without the alternative. */
  readonly request: string;
  readonly deviceClass: StoredDeviceClass;
  /** How many devices; undefined: all that match. */
  readonly count: number | undefined;
  readonly isForAdmin: boolean;
  readonly selectors: readonly string[];
  readonly tolerations: readonly DeviceToleration[];
  /** Amounts of capacities; undefined: no particular ones. */
  readonly capacity: Readonly<Record<string, string>> | undefined;
}

/** A request of a claim: the first of its choices that is possible counts. */
export interface WantedRequest {
  readonly name: string;
  readonly choices: readonly WantedDevices[];
  readonly hasAlternatives: boolean;
}

/** A claim that has no devices yet. */
export interface WantedClaim {
  readonly claim: StoredDeviceClaim;
  /** `<namespace>/<name>`, for messages. */
  readonly label: string;
  readonly requests: readonly WantedRequest[];
  readonly constraints: readonly DeviceConstraint[];
}

/** Reads what a claim asks for. Throws a DeviceFault if a class does not exist. */
export function wantedDevicesOf(claim: StoredDeviceClaim, objects: Pick<DeviceObjects, 'deviceClass'>): WantedClaim {
  const { requests, constraints = [] } = claim.spec.devices;
  const label = `${claim.metadata.namespace}/${claim.metadata.name}`;
  return {
    claim,
    label,
    requests: (requests ?? []).map((request) => wantedRequest(request, label, objects)),
    constraints,
  };
}

function wantedRequest(
  { name, exactly, firstAvailable = [] }: DeviceRequest,
  label: string,
  objects: Pick<DeviceObjects, 'deviceClass'>,
): WantedRequest {
  if (exactly !== undefined) {
    const choice = wantedDevices(name, name, exactly, exactly.adminAccess === true, objects);
    return { name, choices: [choice], hasAlternatives: false };
  }
  if (firstAvailable.length === 0) {
    throw new DeviceFault(`resource claim ${label}, request ${name}: unknown request type`);
  }
  const choices = firstAvailable.map((sub) => wantedDevices(`${name}/${sub.name}`, name, sub, false, objects));
  return { name, choices, hasAlternatives: true };
}

function wantedDevices(
  name: string,
  request: string,
  wanted: ExactDeviceRequest | DeviceSubRequest,
  isForAdmin: boolean,
  { deviceClass: find }: Pick<DeviceObjects, 'deviceClass'>,
): WantedDevices {
  const { deviceClassName, allocationMode, count = 0, selectors = [], tolerations = [], capacity } = wanted;
  const deviceClass = find(deviceClassName);
  if (deviceClass === undefined) {
    throw new DeviceFault(`request ${name}: device class ${deviceClassName} does not exist`);
  }
  return {
    name,
    request,
    deviceClass,
    count: allocationMode === 'All' ? undefined : Number(count),
    isForAdmin,
    selectors: selectors.map(({ cel }) => cel?.expression ?? ''),
    tolerations,
    capacity: capacity?.requests,
  };
}
