import type { DeviceAttribute } from '../../../objects/apis/resource/v1/device.types.js';
import type { DeviceConstraint } from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { PoolDevice } from './device-pools.js';
import type { WantedDevices } from './wanted-devices.js';

/** A constraint among the devices of a claim: one attribute has the same value for all of them, or never the same. */
export class AttributeConstraint {
  private readonly requests: ReadonlySet<string>;
  private readonly attribute: string;
  private readonly isDistinct: boolean;
  /** How many of the devices have each value. */
  private readonly values = new Map<string, number>();

  constructor({ requests = [], matchAttribute, distinctAttribute }: DeviceConstraint) {
    this.requests = new Set(requests);
    this.attribute = matchAttribute ?? distinctAttribute ?? '';
    this.isDistinct = matchAttribute === undefined;
  }

  /** Counts a device; false, without an effect, if it does not fit the others. */
  add(wanted: WantedDevices, candidate: PoolDevice): boolean {
    if (!this.isAbout(wanted)) return true;
    const value = this.valueOf(candidate);
    if (value === undefined) return false;
    const isKnown = this.values.has(value);
    if (this.values.size > 0 && isKnown === this.isDistinct) return false;
    this.values.set(value, (this.values.get(value) ?? 0) + 1);
    return true;
  }

  /** Stops counting a device that was counted. */
  remove(wanted: WantedDevices, candidate: PoolDevice): void {
    if (!this.isAbout(wanted)) return;
    const value = this.valueOf(candidate) as string;
    const left = (this.values.get(value) ?? 0) - 1;
    if (left > 0) this.values.set(value, left);
    else this.values.delete(value);
  }

  private isAbout({ name, request }: WantedDevices): boolean {
    return this.requests.size === 0 || this.requests.has(request) || this.requests.has(name);
  }

  /** The value with its type, as a string. */
  private valueOf({ device, name }: PoolDevice): string | undefined {
    const { attributes = {} } = device;
    const slash = this.attribute.indexOf('/');
    // An attribute name without a domain is in the domain of the driver.
    const isOwn = slash >= 0 && this.attribute.slice(0, slash) === name.driver;
    const found = attributes[this.attribute] ?? (isOwn ? attributes[this.attribute.slice(slash + 1)] : undefined);
    return found === undefined ? undefined : textOf(found);
  }
}

function textOf({ string, int, bool, version }: DeviceAttribute): string | undefined {
  const values = { string, int, bool, version };
  const known = Object.entries(values).find(([, value]) => value !== undefined);
  return known === undefined ? undefined : `${known[0]} ${known[1]}`;
}
