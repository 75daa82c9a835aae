import { hasValue, type LabelRequirement, type Labels, requirementMatches, sortedValues } from './label-requirement.js';

/**
 * Many requirements, compared in a few steps: requirements on one key are merged, the comparison stops at the first
 * required key that the object lacks, and of the keys that the object must not have, only those that it has are
 * checked. A comparison therefore takes about as many steps as the object has labels, whatever the number of
 * requirements.
 */
export class LongSelector {
  /** The requirements after the merge; equivalent to all requirements. */
  readonly requirements: readonly LabelRequirement[];
  /** Requirements that objects without their key don't meet. */
  private readonly needed: readonly LabelRequirement[];
  /** Requirements that objects without their key meet: one for each key. */
  private readonly avoided: ReadonlyMap<string, LabelRequirement>;

  constructor(requirements: readonly LabelRequirement[]) {
    const needed: LabelRequirement[] = [];
    const avoided = new Map<string, LabelRequirement>();
    for (const [key, ofKey] of byKey(requirements)) {
      const without = mergedAvoided(key, ofKey);
      if (without !== undefined) avoided.set(key, without);
      needed.push(...mergedNeeded(key, ofKey));
    }
    this.needed = needed;
    this.avoided = avoided;
    this.requirements = [...needed, ...avoided.values()];
  }

  matches(labels: Labels | undefined): boolean {
    // All keys differ, except for `>` and `<`: so this visits no more requirements than the object has labels.
    for (const requirement of this.needed) if (!requirementMatches(requirement, labels)) return false;
    const { avoided } = this;
    if (avoided.size === 0 || labels === undefined) return true;
    let left = avoided.size;
    for (const key of Object.keys(labels)) {
      const requirement = avoided.get(key);
      if (requirement !== undefined && !requirementMatches(requirement, labels)) return false;
      // If the object has more labels than there are requirements, the requirements are looped over instead.
      if (--left < 0) break;
    }
    if (left >= 0) return true;
    for (const requirement of avoided.values()) if (!requirementMatches(requirement, labels)) return false;
    return true;
  }
}

function byKey(requirements: readonly LabelRequirement[]): Map<string, LabelRequirement[]> {
  const keys = new Map<string, LabelRequirement[]>();
  for (const requirement of requirements) {
    const ofKey = keys.get(requirement.key);
    if (ofKey === undefined) keys.set(requirement.key, [requirement]);
    else ofKey.push(requirement);
  }
  return keys;
}

/** Merges the `!`, `!=` and `notin` requirements on one key. */
function mergedAvoided(key: string, ofKey: readonly LabelRequirement[]): LabelRequirement | undefined {
  const absent = ofKey.find(({ operator }) => operator === '!');
  if (absent !== undefined) return absent;
  const found = ofKey.filter(({ operator }) => operator === '!=' || operator === 'notin');
  if (found.length < 2) return found[0];
  return { key, operator: 'notin', values: sortedValues(found.flatMap(({ values }) => values)) };
}

/** Merges the other requirements on one key. */
function mergedNeeded(key: string, ofKey: readonly LabelRequirement[]): LabelRequirement[] {
  const merged: LabelRequirement[] = [];
  const equal = ofKey.filter(({ operator }) => operator === '=' || operator === 'in');
  if (equal.length === 1) merged.push(equal[0] as LabelRequirement);
  else if (equal.length > 1) merged.push({ key, operator: 'in', values: commonValues(equal) });
  for (const operator of ['>', '<'] as const) {
    const bounds = ofKey.filter((one) => one.operator === operator);
    if (bounds.length > 0) merged.push(tightest(bounds, operator));
  }
  if (merged.length > 0) return merged;
  const exists = ofKey.find(({ operator }) => operator === 'exists');
  return exists === undefined ? [] : [exists];
}

function commonValues([first, ...others]: readonly LabelRequirement[]): readonly string[] {
  const common = first?.values.filter((value) => others.every(({ values }) => hasValue(values, value)));
  return common ?? [];
}

function tightest(bounds: readonly LabelRequirement[], operator: '>' | '<'): LabelRequirement {
  const boundOf = ({ values }: LabelRequirement) => BigInt(values[0] as string);
  return bounds.reduce((best, one) => (boundOf(one) > boundOf(best) === (operator === '>') ? one : best));
}
