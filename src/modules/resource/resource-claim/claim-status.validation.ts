import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { validateNodeSelector } from '../../../objects/apis/core/v1/validation/scheduling.validation.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '../../../objects/apis/resource/v1/resource-claim.types.js';
import { validateBindingConditions } from '../validation/binding-conditions.validation.js';
import { declared, declaredLast } from '../validation/declared.js';
import { validateRequestReferences } from '../validation/device-claim.validation.js';
import { validateDeviceConfiguration, validateRawObject } from '../validation/device-configuration.validation.js';
import {
  validateDeclaredDriverName,
  validateDeclaredPoolName,
  validateDeviceLabel,
  validateDriverName,
  validatePoolName,
  validateShareId,
} from '../validation/device-names.validation.js';
import { validateDeviceToleration } from '../validation/device-taint.validation.js';
import { validateInterfaceAddress } from '../validation/interface-address.validation.js';
import { duplicates, validateDeclaredSet, validateItems } from '../validation/lists.validation.js';
import { RequestNames } from '../validation/request-names.js';

const statusPath = FieldPath.of('status');
const maxConsumers = 256;
const maxResults = 32;
const maxConfigurations = 64;
const maxConditions = 8;
const maxDataLength = 10 * 1024;
const maxInterfaceName = 256;
const maxHardwareAddress = 128;
const maxAddresses = 16;
const sources = ['FromClaim', 'FromClass'];

type DeviceName = Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>;

/** A key that distinguishes devices, and shares of one device. */
export function deviceKey({ driver, pool, device, shareID = '' }: DeviceName): string {
  return JSON.stringify([driver, pool, device, shareID]);
}

/** Validates the changed status of a claim. */
export function validateClaimStatus(claim: ResourceClaim, old: ResourceClaim): FieldError[] {
  const { allocation, reservedFor, devices } = claim.status;
  const names = new RequestNames(claim.spec.devices);
  const allocated = new Set((allocation?.devices.results ?? []).map(deviceKey));
  const errors = [
    ...validateItems(reservedFor, maxConsumers, statusPath.child('reservedFor'), validateConsumer),
    ...validateItems(devices, Number.POSITIVE_INFINITY, statusPath.child('devices'), (device, path) =>
      validateDeviceStatus(device, path, allocated),
    ),
    ...validateReservations(claim, old),
  ];
  const path = statusPath.child('allocation');
  if (allocation !== undefined && old.status.allocation !== undefined) {
    if (!deepEqual(allocation, old.status.allocation)) {
      errors.push(...declared([invalid(path, null, 'field cannot be modified once set')]));
    }
  } else if (allocation !== undefined) errors.push(...validateAllocation(allocation, path, names));
  errors.push(
    ...declared(duplicates(reservedFor ?? [], statusPath.child('reservedFor'), ({ uid }) => uid)),
    ...declared(duplicates(devices ?? [], statusPath.child('devices'), deviceKey)),
  );
  return declaredLast(errors);
}

function validateConsumer(consumer: ResourceClaimConsumerReference, path: FieldPath): FieldError[] {
  return (['resource', 'name', 'uid'] as const)
    .filter((field) => consumer[field] === '')
    .map((field) => required(path.child(field)));
}

function validateReservations(claim: ResourceClaim, old: ResourceClaim): FieldError[] {
  const { allocation, reservedFor = [] } = claim.status;
  const path = statusPath.child('reservedFor');
  if (reservedFor.length === 0) return [];
  if (allocation === undefined) return [forbidden(path, 'may not be specified when `allocated` is not set')];
  if (claim.metadata?.deletionTimestamp === undefined) return [];
  const before = new Set((old.status.reservedFor ?? []).map((consumer) => JSON.stringify(consumer)));
  if (reservedFor.every((consumer) => before.has(JSON.stringify(consumer)))) return [];
  const detail = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return [forbidden(path, detail)];
}

function validateAllocation(allocation: AllocationResult, path: FieldPath, names: RequestNames): FieldError[] {
  const at = path.child('devices');
  const errors = [
    ...validateItems(allocation.devices.results, maxResults, at.child('results'), (result, each) =>
      validateResult(result, each, names),
    ),
    ...validateItems(allocation.devices.config, maxConfigurations, at.child('config'), (config, each) => [
      ...validateSource(config.source, each.child('source')),
      ...validateRequestReferences(config.requests, each.child('requests'), names),
      ...validateDeviceConfiguration(config, each),
    ]),
  ];
  if (allocation.nodeSelector !== undefined) {
    validateNodeSelector(allocation.nodeSelector, path.child('nodeSelector'), errors);
  }
  return errors;
}

function validateSource(source: string, path: FieldPath): FieldError[] {
  if (source === '') return declared([required(path)]);
  return sources.includes(source) ? [] : declared([notSupported(path, source, sources)]);
}

function validateResult(result: DeviceRequestAllocationResult, path: FieldPath, names: RequestNames): FieldError[] {
  const { request, driver, pool, device, shareID, tolerations } = result;
  return [
    ...names.validateReference(request, path.child('request')),
    ...validateDeclaredDriverName(driver, path.child('driver')),
    ...validateDeclaredPoolName(pool, path.child('pool')),
    ...validateDeviceLabel(device, path.child('device')),
    ...validateBindingConditions(result, path),
    ...(tolerations ?? []).flatMap((toleration, i) =>
      validateDeviceToleration(toleration, path.child('tolerations').index(i)),
    ),
    ...(shareID === undefined ? [] : validateShareId(shareID, path.child('shareID'))),
  ];
}

function validateDeviceStatus(
  device: AllocatedDeviceStatus,
  path: FieldPath,
  allocated: ReadonlySet<string>,
): FieldError[] {
  const { driver, pool, device: name, shareID, data, conditions, networkData } = device;
  const errors = [
    ...validateDriverName(driver, path.child('driver')),
    ...validatePoolName(pool, path.child('pool')),
    ...validateDeviceLabel(name, path.child('device')),
    ...(shareID === undefined ? [] : validateShareId(shareID, path.child('shareID'))),
  ];
  if (!allocated.has(deviceKey(device))) {
    errors.push(invalid(path, shownKey(device), 'must be an allocated device in the claim'));
  }
  const count = (conditions ?? []).length;
  if (count > maxConditions) errors.push(tooMany(path.child('conditions'), count, maxConditions));
  errors.push(...validateConditions(conditions ?? [], path.child('conditions')));
  if (data !== undefined && data !== null) errors.push(...validateRawObject(data, path.child('data'), maxDataLength));
  if (networkData !== undefined) errors.push(...validateNetworkData(networkData, path.child('networkData')));
  return errors;
}

function validateNetworkData(data: NetworkDeviceData, path: FieldPath): FieldError[] {
  const { interfaceName = '', hardwareAddress = '', ips } = data;
  const errors = validateDeclaredSet(ips, maxAddresses, path.child('ips'), validateInterfaceAddress, (ip) => ip);
  if (interfaceName.length > maxInterfaceName) errors.push(tooLong(path.child('interfaceName'), maxInterfaceName));
  if (hardwareAddress.length > maxHardwareAddress) {
    errors.push(tooLong(path.child('hardwareAddress'), maxHardwareAddress));
  }
  return errors;
}

/** The form in which messages show a device. */
function shownKey({ driver, pool, device, shareID = '' }: DeviceName): object {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID };
}
