import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
} from '../../base/machinery/values/quantity.js';

/** Amounts by the name of the resource, exact. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Adds an amount to the existing one. */
export function addAmount(sums: Map<string, Quantity>, name: string, amount: Quantity): void {
  const sum = sums.get(name);
  sums.set(name, sum === undefined ? amount : addQuantities(sum, amount));
}

/** Adds all amounts to the existing ones. */
export function addAmounts(sums: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) addAmount(sums, name, amount);
}

/** Keeps the larger of each pair of amounts. */
export function raiseAmounts(most: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const known = most.get(name);
    if (known === undefined || compareQuantities(amount, known) > 0) most.set(name, amount);
  }
}

/** `a=1,b=2`, sorted by name, as messages show amounts. */
export function amountsText(amounts: Amounts): string {
  return [...amounts]
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .sort()
    .join(',');
}
