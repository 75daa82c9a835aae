import { checkedRequirement, checkLabelKey } from './checked-requirement.js';
import type { LabelOperator, LabelRequirement } from './label-requirement.js';
import { requirementError, SelectorError } from './selector-error.js';

/** The most requirements of one selector in a query. Real programs send a handful. */
const mostRequirements = 1_000;
/**
 * The most values in the lists of one selector in a query: with names of usual length, a request has no space for more.
 */
const mostValues = 5_000;
/** Selectors longer than this, in characters, are scanned before they are parsed. */
const longText = 2_048;
const noValues: readonly string[] = Object.freeze([]);

function tooLong(most: string): SelectorError {
  return new SelectorError(`the label selector is too long: it may have at most ${most}`);
}

/**
 * Counts the commas of a long selector: this takes a hundredth of the time for parsing the allowed number of
 * requirements.
 */
function refuseTooLong(text: string): void {
  let requirements = 1;
  let values = 0;
  let isInList = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === comma) isInList ? values++ : requirements++;
    else if (code === opening) isInList = true;
    else if (code === closing) isInList = false;
  }
  if (requirements > mostRequirements) throw tooLong(`${mostRequirements} requirements`);
  if (values > mostValues) throw tooLong(`${mostValues} values`);
}

const comma = ','.charCodeAt(0);
const opening = '('.charCodeAt(0);
const closing = ')'.charCodeAt(0);

interface Token {
  readonly kind: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

const end: Token = { kind: 'end', text: '' };
/** The symbols `!=`, `==`, `=`, `>`, `<`, `!`, `(`, `)` and `,`, or a word. */
const nextToken = /\s*(?:(!=|==|[=><!(),])|([^\s!=<>(),]+))/y;

/**
 * Parses the text form of label selectors. Throws a `SelectorError` for anything else, and for a selector that is too
 * long.
 */
export class LabelSelectorParser {
  private ahead: Token | undefined;
  private position = 0;
  private values = 0;

  constructor(private readonly text: string) {}

  private peek(): Token {
    this.ahead ??= this.read();
    return this.ahead;
  }

  private next(): Token {
    const token = this.peek();
    this.ahead = undefined;
    return token;
  }

  private read(): Token {
    nextToken.lastIndex = this.position;
    const found = nextToken.exec(this.text);
    if (found === null) return end;
    this.position = nextToken.lastIndex;
    const [, symbol, word = ''] = found;
    return symbol === undefined ? { kind: 'identifier', text: word } : { kind: 'symbol', text: symbol };
  }

  /** Throws at once for most selectors with too many requirements or values; {@link parse} finds the rest. */
  checkLength(): void {
    if (this.text.length > longText) refuseTooLong(this.text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.peek();
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'identifier' && token.text !== '!') {
        throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      if (requirements.length === mostRequirements) throw tooLong(`${mostRequirements} requirements`);
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
    checkLabelKey(key);
    const ahead = this.peek();
    if (negated || ahead.kind === 'end' || ahead.text === ',') {
      return { key, operator: negated ? '!' : 'exists', values: noValues };
    }
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.valueList() : this.singleValue();
    return checkedRequirement(key, operator, values);
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
        if (++this.values > mostValues) throw tooLong(`${mostValues} values`);
        values.push(pending);
        pending = '';
        if (token.text === ')') return values;
        continue;
      }
      // Programs know these texts.
      const expected =
        pending !== '' ? "',' or ')'" : values.length > 0 ? "',', or identifier" : "',', ')' or identifier";
      throw requirementError(`found '${token.text}', expected: ${expected}`);
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
