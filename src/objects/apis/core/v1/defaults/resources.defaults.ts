import { formatQuantity, scaledQuantity } from '../../../../../base/machinery/values/quantity.js';
import type { ResourceList } from '../resources.types.js';

const finerThanMilli = /[nu]$|^0*\.|\.|e-/;

/** Rounds amounts finer than a thousandth up: no smaller amount can be allocated. Changes `resources`. */
export function roundResources(resources: ResourceList | undefined): void {
  if (resources === undefined) return;
  for (const name of Object.keys(resources)) {
    const value = resources[name] as string;
    if (!finerThanMilli.test(value)) continue;
    resources[name] = formatQuantity({ unscaled: scaledQuantity(value, -3), scale: -3, format: 'DecimalSI' });
  }
}
