import { compareKeys, type Placed } from './history.js';

/** The first difference between two lists in list order, in words; undefined when there is none. */
export function differenceOf(expected: readonly Placed[], items: readonly Placed[]): string | undefined {
  for (let i = 0; i < Math.max(expected.length, items.length); i++) {
    const [wanted, got] = [expected[i], items[i]];
    if (wanted === undefined) return `item ${i} should not be there: ${JSON.stringify(got)}`;
    if (got === undefined) return `item ${i} is missing: ${JSON.stringify(wanted)}`;
    const same =
      compareKeys(wanted.key, got.key) === 0 &&
      wanted.version === got.version &&
      wanted.info.digest === got.info.digest;
    if (!same) return `item ${i} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`;
  }
  return undefined;
}
