import type { SuccessPolicy } from '../../../objects/apis/batch/v1/job.types.js';
import { IndexSet } from './index-set.js';

/** Returns the rule that the succeeded indexes fulfil; undefined: none. */
export function fulfilledRule(
  policy: SuccessPolicy | undefined,
  completions: number,
  succeeded: IndexSet,
): string | undefined {
  if (succeeded.size === 0) return undefined;
  const found = (policy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const wanted = IndexSet.parse(succeededIndexes, completions);
    return wanted.countIn(succeeded) >= (succeededCount ?? wanted.size);
  });
  return found < 0 ? undefined : `Matched rules at index ${found}`;
}
