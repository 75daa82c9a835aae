import { isQualifiedName, isValidLabelValue } from './names.js';
import { ownValue } from './own-value.js';

export type LabelOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

/** One requirement on one label key. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: ReadonlySet<string>;
}

export type Labels = Readonly<Record<string, string>>;

/** A conjunction of requirements; an empty one matches everything. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Labels | undefined): boolean;
}

/** An invalid selector or requirement. The message is for the client. */
export class SelectorError extends Error {}

class ParsedLabelSelector implements LabelSelector {
  constructor(readonly requirements: readonly LabelRequirement[]) {}

  matches(labels: Labels | undefined): boolean {
    for (const requirement of this.requirements) if (!requirementMatches(requirement, labels)) return false;
    return true;
  }
}

export const everything: LabelSelector = new ParsedLabelSelector([]);
export const nothing: LabelSelector = { requirements: [], matches: () => false };

/** Builds a selector from already checked requirements. */
export function selectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  return requirements.length === 0 ? everything : new ParsedLabelSelector(requirements);
}

function requirementMatches(requirement: LabelRequirement, labels: Labels | undefined): boolean {
  const has = labels !== undefined && Object.hasOwn(labels, requirement.key);
  const value = has ? (labels[requirement.key] as string) : '';
  switch (requirement.operator) {
    case '=':
    case 'in':
      return has && requirement.values.has(value);
    case '!=':
    case 'notin':
      return !has || !requirement.values.has(value);
    case 'exists':
      return has;
    case '!':
      return !has;
    case '>':
    case '<': {
      if (!has || !/^[+-]?\d+$/.test(value)) return false;
      const [bound] = requirement.values;
      const left = BigInt(value);
      const right = BigInt(bound as string);
      return requirement.operator === '>' ? left > right : left < right;
    }
  }
}

interface Token {
  readonly kind: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

const symbols = ['!=', '==', '=', '>', '<', '!', '(', ')', ','];

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const c = text[i] as string;
    if (/\s/.test(c)) {
      i++;
      continue;
    }
    if (symbols.some((s) => s[0] === c)) {
      let run = '';
      while (i < text.length && symbols.includes(run + text[i])) run += text[i++];
      if (run === '') run = text[i++] as string;
      tokens.push({ kind: 'symbol', text: run });
      continue;
    }
    let word = '';
    while (i < text.length && !/[\s!=<>(),]/.test(text[i] as string)) word += text[i++];
    tokens.push({ kind: 'identifier', text: word });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

class Parser {
  private readonly tokens: Token[];
  private position = 0;

  constructor(text: string) {
    this.tokens = tokenize(text);
  }

  private peek(): Token {
    return this.tokens[this.position] as Token;
  }

  private next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.position++;
    return token;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.peek();
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'identifier' && token.text !== '!') {
        throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.requirement());
      const after = this.next();
      if (after.kind === 'end') return requirements;
      if (after.text !== ',') throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      const ahead = this.peek();
      if (ahead.kind !== 'identifier' && ahead.text !== '!') {
        throw new SelectorError(`found '${ahead.text}', expected: identifier after ','`);
      }
    }
  }

  private requirement(): LabelRequirement {
    let negated = false;
    if (this.peek().text === '!' && this.peek().kind === 'symbol') {
      this.next();
      negated = true;
    }
    const keyToken = this.next();
    if (keyToken.kind !== 'identifier') {
      throw requirementError(`found '${keyToken.text}', expected: identifier`);
    }
    const key = keyToken.text;
    checkKey(key);
    const ahead = this.peek();
    if (negated || ahead.kind === 'end' || ahead.text === ',') {
      return { key, operator: negated ? '!' : 'exists', values: new Set() };
    }
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.valueList() : this.singleValue();
    return newRequirement(key, operator, values);
  }

  private operator(): LabelOperator {
    const token = this.next();
    if (token.kind === 'symbol') {
      if (token.text === '=' || token.text === '==') return '=';
      if (token.text === '!=' || token.text === '>' || token.text === '<') return token.text;
    } else if (token.text === 'in' || token.text === 'notin') {
      return token.text;
    }
    throw requirementError(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  private valueList(): string[] {
    const open = this.next();
    if (open.text !== '(' || open.kind !== 'symbol') throw requirementError(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    let pending = '';
    for (;;) {
      const token = this.next();
      if (token.kind === 'identifier') {
        if (pending !== '') throw requirementError(`found '${token.text}', expected: ',' or ')'`);
        pending = token.text;
        continue;
      }
      if (token.text === ',' || token.text === ')') {
        values.push(pending);
        pending = '';
        if (token.text === ')') return values;
        continue;
      }
      throw requirementError(`found '${token.text}', expected: ',', ')' or identifier`);
    }
  }

  private singleValue(): string[] {
    const token = this.peek();
    if (token.kind === 'end' || token.text === ',') return [''];
    this.next();
    if (token.kind === 'identifier') return [token.text];
    throw requirementError(`found '${token.text}', expected: identifier`);
  }
}

function requirementError(detail: string): SelectorError {
  return new SelectorError(`unable to parse requirement: ${detail}`);
}

function checkKey(key: string): void {
  const errors = isQualifiedName(key);
  if (errors.length > 0) {
    throw requirementError(`invalid label key ${JSON.stringify(key)}: ${errors.join('; ')}`);
  }
}

/** Checks and builds one requirement; throws {@link SelectorError} for a bad key, operator or value. */
function newRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  checkKey(key);
  if (operator === '>' || operator === '<') {
    if (values.length !== 1 || !/^[+-]?\d+$/.test(values[0] as string)) {
      throw requirementError("for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (const value of values) {
    const errors = isValidLabelValue(value);
    if (errors.length > 0) {
      throw requirementError(
        `invalid label value: ${JSON.stringify(value)}: at key: ${JSON.stringify(key)}: ${errors.join('; ')}`,
      );
    }
  }
  return { key, operator, values: new Set(values) };
}

/** Parses the text form used in queries: `a=b,c!=d,e in (f,g),h,!i,j>1`. Throws {@link SelectorError}. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return everything;
  return selectorOf(new Parser(text).parse());
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
    requirements.push(newRequirement(key, '=', [value]));
  }
  for (const expression of selector.matchExpressions ?? []) {
    const operator = ownValue(objectOperators, expression.operator);
    if (operator === undefined) {
      throw new SelectorError(`"${expression.operator}" is not a valid label selector operator`);
    }
    requirements.push(newRequirement(expression.key, operator, expression.values ?? []));
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
