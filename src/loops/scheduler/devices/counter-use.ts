import {
  addQuantities,
  compareQuantities,
  type Quantity,
  quantityOf,
  subtractQuantities,
} from '../../../base/machinery/values/quantity.js';
import type { Device } from '../../../objects/apis/resource/v1/device.types.js';
import { type DeviceObjects, deviceId } from './device-objects.js';
import type { DevicePool, PoolDevice } from './device-pools.js';

/** What is left of the counters that the devices of pools share. */
export class CounterUse {
  /** The amounts left by pool, then by set and counter. */
  private readonly left = new Map<string, Map<string, Quantity>>();

  constructor(private readonly objects: Pick<DeviceObjects, 'usesOf'>) {}

  /** Takes what a device needs; false, without an effect, if there is not enough. */
  take({ device, pool }: PoolDevice): boolean {
    const left = this.leftIn(pool);
    for (const [key, amount] of needsOf(device)) {
      if (compareQuantities(left.get(key) ?? quantityOf('0'), amount) < 0) return false;
    }
    for (const [key, amount] of needsOf(device)) left.set(key, subtractQuantities(left.get(key) as Quantity, amount));
    return true;
  }

  /** Gives back what {@link take} took. */
  give({ device, pool }: PoolDevice): void {
    const left = this.leftIn(pool);
    for (const [key, amount] of needsOf(device)) left.set(key, addQuantities(left.get(key) as Quantity, amount));
  }

  /** All counters minus what the devices in use need, whatever node they are for. */
  private leftIn(pool: DevicePool): Map<string, Quantity> {
    const known = this.left.get(pool.id);
    if (known !== undefined) return known;
    const left = new Map<string, Quantity>();
    for (const [set, counters] of pool.counterSets) {
      for (const [name, value] of counters) left.set(keyOf(set, name), quantityOf(value));
    }
    for (const { spec } of pool.slices) {
      for (const device of spec.devices ?? []) {
        if ((device.consumesCounters ?? []).length === 0) continue;
        const id = deviceId({ driver: spec.driver, pool: spec.pool.name, device: device.name });
        if (this.objects.usesOf(id).length === 0) continue;
        for (const [key, amount] of needsOf(device)) {
          const before = left.get(key);
          if (before !== undefined) left.set(key, subtractQuantities(before, amount));
        }
      }
    }
    this.left.set(pool.id, left);
    return left;
  }
}

/** What a device needs of each counter. */
function needsOf({ consumesCounters = [] }: Device): ReadonlyMap<string, Quantity> {
  const needs = new Map<string, Quantity>();
  for (const { counterSet, counters } of consumesCounters) {
    for (const [name, { value }] of Object.entries(counters ?? {})) {
      const key = keyOf(counterSet, name);
      needs.set(key, addQuantities(needs.get(key) ?? '0', value));
    }
  }
  return needs;
}

function keyOf(set: string, counter: string): string {
  return `${set}/${counter}`;
}
