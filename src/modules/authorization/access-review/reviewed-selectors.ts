import { type AskedSelectors, askedSelectors } from '../../../base/machinery/asked-selectors.js';
import { type FieldRequirement, parseFieldSelector } from '../../../base/machinery/field-selector.js';
import {
  type LabelRequirement,
  labelSelectorFromObject,
  parseLabelSelector,
} from '../../../base/machinery/label-selector.js';
import type { ResourceAttributes } from '../../../objects/apis/authorization/v1/subject-access-review.types.js';

/** The readable part of one selector of a review. */
interface ReadSelector<R> {
  readonly requirements: readonly R[];
  /** Whether some of the selector could not be read; the review then covers more objects. */
  readonly isBroken: boolean;
}

interface Asked {
  readonly rawSelector?: string;
  readonly requirements?: readonly { readonly key: string; readonly operator: string; readonly values?: string[] }[];
}

/**
 * The selectors of a review, and a message about the ignored parts, empty if there are none. As in requests, unreadable
 * parts do not narrow the selection.
 */
export function reviewedSelectors(asked: ResourceAttributes | null | undefined): {
  readonly selectors: AskedSelectors | undefined;
  readonly problem: string;
} {
  if (!asked) return { selectors: undefined, problem: '' };
  const fields = readSelector(asked.fieldSelector as Asked | null | undefined, parseFieldSelector, fieldRequirement);
  const labels = readSelector(asked.labelSelector as Asked | null | undefined, parseLabelSelector, labelRequirement);
  const problems = [problemOf('fieldSelector', fields), problemOf('labelSelector', labels)];
  return {
    selectors: askedSelectors(fields.requirements, labels.requirements),
    problem: problems.filter((problem) => problem !== '').join('; '),
  };
}

function readSelector<R>(
  asked: Asked | null | undefined,
  parse: (text: string) => { readonly requirements: readonly R[] },
  read: (requirement: NonNullable<Asked['requirements']>[number]) => R | undefined,
): ReadSelector<R> {
  if (!asked) return { requirements: [], isBroken: false };
  if (asked.rawSelector) {
    try {
      return { requirements: parse(asked.rawSelector).requirements, isBroken: false };
    } catch {
      return { requirements: [], isBroken: true };
    }
  }
  const parts = (asked.requirements ?? []).map(read);
  const requirements = parts.filter((part) => part !== undefined);
  return { requirements, isBroken: requirements.length < parts.length };
}

/** Converts a requirement on a field, which can be compared with only one value. */
function fieldRequirement({
  key,
  operator,
  values = [],
}: NonNullable<Asked['requirements']>[number]): FieldRequirement | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
  return { field: key, equals: operator === 'In', value };
}

function labelRequirement(requirement: NonNullable<Asked['requirements']>[number]): LabelRequirement | undefined {
  try {
    return labelSelectorFromObject({ matchExpressions: [requirement] }).requirements[0];
  } catch {
    return undefined;
  }
}

function problemOf(name: string, { requirements, isBroken }: ReadSelector<unknown>): string {
  if (!isBroken) return '';
  return `spec.resourceAttributes.${name} ${requirements.length > 0 ? 'partially ' : ''}ignored due to parse error`;
}
