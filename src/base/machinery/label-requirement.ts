/** How a requirement compares the value of a label. */
export type LabelOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

/**
 * One requirement on one label key. A watch keeps thousands of requirements, so they contain no sets, and nothing that
 * could be shared instead.
 */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates. */
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

const none: readonly string[] = Object.freeze([]);

/** Builds a requirement from already checked parts; `values` may have any order and duplicates. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[] = none,
): LabelRequirement {
  return { key, operator, values: values.length < 2 ? values : sortedValues(values) };
}

/** The distinct values, in the order that {@link hasValue} needs. */
export function sortedValues(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].sort();
}

/** Whether the sorted values contain this one. */
export function hasValue(values: readonly string[], value: string): boolean {
  let from = 0;
  let to = values.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const found = values[middle] as string;
    if (found === value) return true;
    if (found < value) from = middle + 1;
    else to = middle;
  }
  return false;
}

/** Whether labels meet the requirement. */
export function requirementMatches({ key, operator, values }: LabelRequirement, labels: Labels | undefined): boolean {
  const has = labels !== undefined && Object.hasOwn(labels, key);
  const value = has ? (labels[key] as string) : '';
  switch (operator) {
    case '=':
    case 'in':
      return has && hasValue(values, value);
    case '!=':
    case 'notin':
      return !has || !hasValue(values, value);
    case 'exists':
      return has;
    case '!':
      return !has;
    case '>':
    case '<': {
      if (!has || !/^[+-]?\d+$/.test(value)) return false;
      const left = BigInt(value);
      const right = BigInt(values[0] as string);
      return operator === '>' ? left > right : left < right;
    }
  }
}
