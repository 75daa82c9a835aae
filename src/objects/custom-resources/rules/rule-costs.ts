import type { FieldPath } from '../../../base/machinery/field-error.js';
import { mostOccurrences } from './serialized-sizes.js';

/** The highest cost of one expression, over all values of an object that it applies to, as in the newest release. */
export const ruleCostLimit = 10_000_000;
/** The highest cost of all expressions of a version together. */
export const schemaCostLimit = 100_000_000;

const mostShown = 4;

/** Adds up the possible costs of the expressions of a version. */
export class RuleCosts {
  private readonly costs: { readonly path: FieldPath; readonly cost: number }[] = [];
  private sum = 0;

  /** The cost of all expressions together. */
  get total(): number {
    return this.sum;
  }

  /**
   * Records an expression, and returns its cost for one object.
   *
   * @param once the cost of one evaluation
   * @param count how many values it is evaluated for; undefined if only the size of a request bounds that number
   * @param minSize the fewest bytes of such a value
   */
  add(path: FieldPath, once: number, count: number | undefined, minSize: number): number {
    const times = count ?? mostOccurrences(minSize);
    const cost = times === 0 || once === 0 ? 0 : once * times;
    this.costs.push({ path, cost });
    this.sum += cost;
    return cost;
  }

  /** The places of the most expensive expressions. */
  mostExpensive(): readonly FieldPath[] {
    return this.costs
      .toSorted((a, b) => b.cost - a.cost)
      .slice(0, mostShown)
      .map(({ path }) => path);
  }
}

/** The factor by which a limit is exceeded, as messages show it. */
export function costFactor(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
}
