import {
  addQuantities,
  compareQuantities,
  type Quantity,
  quantityOf,
  quantitySign,
  scaledQuantity,
  subtractQuantities,
} from '../../../base/machinery/values/quantity.js';
import type { CapacityRequestPolicy, DeviceCapacity } from '../../../objects/apis/resource/v1/device.types.js';
import { DeviceFault } from './device-fault.js';
import type { PoolDevice } from './device-pools.js';
import type { WantedClaim, WantedDevices } from './wanted-devices.js';

/** Amounts of capacities by their names. */
export type CapacityAmounts = ReadonlyMap<string, Quantity>;

const largest = (1n << 63n) - 1n;

/**
 * How much a request takes of each capacity of a device; undefined if the device can't give that in the steps of its
 * policy. Throws a DeviceFault for an amount that no steps can reach.
 */
export function takenBy(
  wanted: WantedDevices,
  { label }: Pick<WantedClaim, 'label'>,
  { device, id }: PoolDevice,
): CapacityAmounts | undefined {
  const capacities = Object.entries(device.capacity ?? {});
  const asked = wanted.capacity ?? {};
  if (Object.keys(asked).some((name) => device.capacity?.[name] === undefined)) return undefined;
  const taken = new Map<string, Quantity>();
  for (const [name, capacity] of capacities) {
    const amount = amountOf(asked[name], capacity);
    if (amount === undefined || quantitySign(amount) < 0) {
      const fault =
        amount === undefined
          ? "capacity request cannot be represented in the device's range arithmetic"
          : 'capacity value is negative';
      throw new DeviceFault(
        `claim ${label}, request ${wanted.name}: checking capacity for device ${id}: capacity "${name}": ${fault}`,
      );
    }
    taken.set(name, amount);
  }
  const isAllowed = capacities.every(([name, { requestPolicy }]) =>
    isByPolicy(taken.get(name) as Quantity, requestPolicy),
  );
  return isAllowed ? taken : undefined;
}

/** Whether the amounts taken fit into a device together with the other amounts taken from it. */
export function fitsBeside(
  { device }: PoolDevice,
  taken: CapacityAmounts,
  others: readonly CapacityAmounts[],
): boolean {
  return Object.entries(device.capacity ?? {}).every(([name, { value }]) => {
    let sum = taken.get(name) ?? quantityOf('0');
    for (const other of others) {
      const amount = other.get(name);
      if (amount !== undefined) sum = addQuantities(sum, amount);
    }
    return compareQuantities(sum, value) <= 0;
  });
}

/** Undefined when the steps of the policy exceed the largest number. */
function amountOf(asked: string | undefined, { value, requestPolicy }: DeviceCapacity): Quantity | undefined {
  if (asked === undefined) return quantityOf(requestPolicy?.default ?? value);
  const { validRange, validValues } = requestPolicy ?? {};
  if (validRange?.min !== undefined) return inSteps(asked, validRange);
  const next = validValues?.find((valid) => compareQuantities(asked, valid) <= 0);
  return quantityOf(next ?? asked);
}

function inSteps(asked: string, { min = '0', step }: NonNullable<CapacityRequestPolicy['validRange']>) {
  if (compareQuantities(asked, min) < 0) return quantityOf(min);
  if (step === undefined) return quantityOf(asked);
  const size = scaledQuantity(step, 0);
  const least = scaledQuantity(min, 0);
  const above = scaledQuantity(asked, 0) - least;
  const steps = size === 0n ? 0n : (above + size - 1n) / size;
  const reached = least + steps * size;
  return reached > largest ? undefined : { unscaled: reached, scale: 0, format: quantityOf(step).format };
}

function isByPolicy(amount: Quantity, policy: CapacityRequestPolicy | undefined): boolean {
  if (policy === undefined) return true;
  const { validRange, validValues = [] } = policy;
  if (policy.default != null && compareQuantities(amount, policy.default) === 0) return true;
  if (validRange !== undefined) {
    const { min = '0', max, step } = validRange;
    if (max !== undefined && compareQuantities(amount, max) > 0) return false;
    const size = step === undefined ? 0n : scaledQuantity(step, 0);
    return size === 0n || scaledQuantity(subtractQuantities(amount, min), 0) % size === 0n;
  }
  return validValues.length === 0 || validValues.some((valid) => compareQuantities(valid, amount) === 0);
}
