import { isDeepStrictEqual } from 'node:util';
import { addQuantities, type Quantity, wholeQuantity } from '../../base/machinery/values/quantity.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { DeviceClaim } from '../apis/resource/v1/device-claim.types.js';
import type { UsageEvaluator } from './usage-evaluator.js';

/** The most devices that can be allocated to a claim; a request for all devices counts as this many. */
const mostDevices = 32;

interface Wanted {
  readonly deviceClassName: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

/** Usage of device claims: their number, and the most devices of each class that can be allocated to them. */
export function deviceUsage(names: VendorNames): UsageEvaluator {
  const group = groupName('resource', names);
  const count = `count/resourceclaims.${group}`;
  const ofClass = `.deviceclass.${group}/devices`;
  const implicit = `requests.deviceclass.resource.${names.labelPrefix}/`;
  return {
    measures: (name) => name === count || name.endsWith(ofClass) || name.startsWith(implicit),

    usage({ spec }) {
      const { devices } = spec as { readonly devices: DeviceClaim };
      const usage = new Map<string, Quantity>([[count, wholeQuantity(1)]]);
      for (const { exactly, firstAvailable = [] } of devices.requests ?? []) {
        for (const [name, number] of worstCase(exactly === undefined ? firstAvailable : [exactly])) {
          for (const key of [`${name}${ofClass}`, `${implicit}${name}`]) {
            usage.set(key, addQuantities(usage.get(key) ?? wholeQuantity(0), wholeQuantity(number)));
          }
        }
      }
      return usage;
    },

    mayRiseBy: (subresource, object, old) => subresource === '' && !isDeepStrictEqual(object.spec, old.spec),
  };
}

/** For each class, the number of devices of the choice that has the most of them. */
function worstCase(choices: readonly Wanted[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { deviceClassName, allocationMode, count = 0 } of choices) {
    const number = allocationMode === 'All' ? mostDevices : Number(count);
    most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, number));
  }
  return most;
}
