import { createHash } from 'node:crypto';
import { checkedRequirement } from './checked-requirement.js';
import { type LabelOperator, type LabelRequirement, type Labels, requirementMatches } from './label-requirement.js';
import { LabelSelectorParser } from './label-selector-parser.js';
import { LongSelector } from './long-selector.js';
import { ownValue } from './own-value.js';
import { SelectorError } from './selector-error.js';
import { SharedValues } from './shared-values.js';

export { type LabelOperator, type LabelRequirement, type Labels, labelRequirement } from './label-requirement.js';
export { SelectorError } from './selector-error.js';

/** A conjunction of requirements; an empty one matches everything. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels | undefined): boolean;
}

class ShortSelector implements LabelSelector {
  constructor(readonly requirements: readonly LabelRequirement[]) {}

  matches(labels: Labels | undefined): boolean {
    for (const requirement of this.requirements) if (!requirementMatches(requirement, labels)) return false;
    return true;
  }
}

export const everything: LabelSelector = new ShortSelector([]);
export const nothing: LabelSelector = { requirements: [], matches: () => false };

/** Above this many, requirements are merged by key before comparison. */
const fewRequirements = 8;
/**
 * Selectors of at least this length, in characters, are stored once and shared by all requests with an equal selector.
 */
const sharedLength = 256;

/** Builds a selector from already checked requirements. */
export function selectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  if (requirements.length === 0) return everything;
  if (requirements.length <= fewRequirements) return new ShortSelector(requirements);
  const long: LabelSelector = new LongSelector(requirements);
  return long;
}

const sharedSelectors = new SharedValues<LabelSelector>();

/**
 * Parses the text form used in queries: `a=b,c!=d,e in (f,g),h,!i,j>1`. Throws {@link SelectorError}, also for more
 * requirements or values than a query may have. Equal long strings return the same selector while it is in use.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return everything;
  const parser = new LabelSelectorParser(text);
  const parse = () => selectorOf(parser.parse());
  if (text.length < sharedLength) return parse();
  parser.checkLength();
  return sharedSelectors.get(createHash('sha256').update(text).digest('base64'), parse);
}

/** The memory of a selector while it is in use, in bytes; an estimate on the high side. */
export function selectorBytes({ requirements }: Pick<LabelSelector, 'requirements'>): number {
  let bytes = 0;
  for (const { key, values } of requirements) {
    bytes += requirementBytes + textBytes(key);
    if (values.length > 0) bytes += listBytes;
    for (const value of values) bytes += textBytes(value) + placeBytes;
  }
  return bytes;
}

/** Estimated memory of a requirement: the object, its list slot and its map entry. */
const requirementBytes = 128;
const listBytes = 48;
const placeBytes = 8;

/** A substring of a longer string shares its characters. */
function textBytes(text: string): number {
  return 32 + Math.min(text.length, 16);
}

/** The object form (`matchLabels`, `matchExpressions`). Null selects nothing, an empty selector everything. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

const objectOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** Compiles the object form; throws {@link SelectorError} when it is not valid. */
export function labelSelectorFromObject(selector: LabelSelectorObject | undefined | null): LabelSelector {
  if (selector === undefined || selector === null) return nothing;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(checkedRequirement(key, '=', [value]));
  }
  for (const expression of selector.matchExpressions ?? []) {
    const operator = ownValue(objectOperators, expression.operator);
    if (operator === undefined) {
      throw new SelectorError(`"${expression.operator}" is not a valid label selector operator`);
    }
    requirements.push(checkedRequirement(expression.key, operator, expression.values ?? []));
  }
  return selectorOf(requirements);
}

/** The text form of an object selector, sorted by key (the scale subresource's `status.selector`). */
export function formatLabelSelector(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return '';
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const list = `(${[...(values ?? [])].sort().join(',')})`;
    if (operator === 'In') parts.push({ key, text: `${key} in ${list}` });
    else if (operator === 'NotIn') parts.push({ key, text: `${key} notin ${list}` });
    else if (operator === 'Exists') parts.push({ key, text: key });
    else parts.push({ key, text: `!${key}` });
  }
  return parts
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map((p) => p.text)
    .join(',');
}
