import type { FieldPath } from '../../../base/machinery/field-error.js';
import { mostOccurrences } from './serialized-sizes.js';

/** The most that one expression may cost for all values that an object can have of it, as the newest release has it. */
export const expressionCostLimit = 10_000_000;
/** The most that all expressions of a version may cost together. */
export const schemaCostLimit = 100_000_000;

const mostShown = 4;

/** Adds up what the expressions of a version may cost. */
export class RuleCosts {
  private readonly costs: { readonly path: FieldPath; readonly cost: number }[] = [];
  private sum = 0;

  /** What all expressions cost together. */
  get total(): number {
    return this.sum;
  }

  /**
   * Notes an expression, and returns what it costs for one object.
   *
   * @param once what one evaluation costs
   * @param count how many values it is evaluated for; undefined if only the size of a request bounds that
   * @param minSize the fewest bytes of such a value
   */
  add(path: FieldPath, once: number, count: number | undefined, minSize: number): number {
    const times = count ?? mostOccurrences(minSize);
    const cost = times === 0 || once === 0 ? 0 : once * times;
    this.costs.push({ path, cost });
    this.sum += cost;
    return cost;
  }

  /** The places of the expressions that cost most. */
  mostExpensive(): readonly FieldPath[] {
    return this.costs
      .toSorted((a, b) => b.cost - a.cost)
      .slice(0, mostShown)
      .map(({ path }) => path);
  }
}

/** By how much a limit is exceeded, for people. */
export function costFactor(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
}
