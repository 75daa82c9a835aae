import { hasValue, sortedValues } from './label-requirement.js';
import { SelectorError } from './selector-error.js';

/** One requirement on one selectable field. */
export interface FieldRequirement {
  readonly field: string;
  readonly equals: boolean;
  readonly value: string;
}

/** A conjunction over the selectable fields of a kind. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  matches(fields: Readonly<Record<string, string>>): boolean;
  /** The value that the field must equal, if the selector requires one. */
  requiresExact(field: string): string | undefined;
}

/** The smallest of the values that the field must equal; the reference server takes the same one. */
function exactValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  let found: string | undefined;
  for (const { equals, field: one, value } of requirements) {
    if (equals && one === field && (found === undefined || value < found)) found = value;
  }
  return found;
}

class ParsedFieldSelector implements FieldSelector {
  constructor(readonly requirements: readonly FieldRequirement[]) {}

  matches(fields: Readonly<Record<string, string>>): boolean {
    for (const r of this.requirements) if (((fields[r.field] ?? '') === r.value) !== r.equals) return false;
    return true;
  }

  requiresExact(field: string): string | undefined {
    return exactValue(this.requirements, field);
  }
}

/** Many requirements, merged by field: comparing an object takes as many steps as there are fields. */
class LongFieldSelector implements FieldSelector {
  private readonly wanted = new Map<string, string>();
  private readonly unwanted = new Map<string, readonly string[]>();
  private readonly isImpossible: boolean;

  constructor(readonly requirements: readonly FieldRequirement[]) {
    const unwanted = new Map<string, string[]>();
    let isImpossible = false;
    for (const { field, equals, value } of requirements) {
      if (!equals) {
        const values = unwanted.get(field);
        if (values === undefined) unwanted.set(field, [value]);
        else values.push(value);
      } else if ((this.wanted.get(field) ?? value) === value) this.wanted.set(field, value);
      else isImpossible = true;
    }
    for (const [field, values] of unwanted) this.unwanted.set(field, sortedValues(values));
    this.isImpossible = isImpossible;
  }

  matches(fields: Readonly<Record<string, string>>): boolean {
    if (this.isImpossible) return false;
    for (const [field, value] of this.wanted) if ((fields[field] ?? '') !== value) return false;
    for (const [field, values] of this.unwanted) if (hasValue(values, fields[field] ?? '')) return false;
    return true;
  }

  requiresExact(field: string): string | undefined {
    return exactValue(this.requirements, field);
  }
}

/** Above this many, requirements are merged by field before comparison. */
const fewRequirements = 8;

export const everyField: FieldSelector = new ParsedFieldSelector([]);

/** The most distinct requirements in one selector. Real programs send one or two. */
const mostRequirements = 1_000;

/** Parses `a=b,c!=d,e==f` with backslash escapes of `\\`, `,` and `=`. Throws {@link SelectorError}. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyField;
  const all = requirementsOf(text);
  if (all.length === 0) return everyField;
  return all.length <= fewRequirements ? new ParsedFieldSelector(all) : new LongFieldSelector(all);
}

/**
 * The value that a selector, given as text, requires of a field; undefined if there is none, or if the text is not a
 * selector. This is known of every request before the server knows its user: texts without such a requirement are only
 * searched, not parsed.
 */
export function exactFieldValue(text: string, field: string): string | undefined {
  // A requirement begins the text or follows a comma. What is found may still be part of a value with escapes.
  if (!text.startsWith(`${field}=`) && !text.includes(`,${field}=`)) return undefined;
  try {
    return exactValue(requirementsOf(text), field);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

function requirementsOf(text: string): readonly FieldRequirement[] {
  const requirements = new Map<string, FieldRequirement>();
  const hasEscapes = text.includes('\\');
  for (const part of hasEscapes ? splitUnescaped(text) : text.split(',')) {
    if (part === '' || requirements.has(part)) continue;
    if (requirements.size === mostRequirements) {
      throw new SelectorError(`the field selector is too long: it may have at most ${mostRequirements} requirements`);
    }
    const requirement = hasEscapes ? parseTerm(part, text) : parsePlainTerm(part, text);
    // An empty field compared with an empty value selects everything, whatever the operator.
    if (requirement.field !== '' || requirement.value !== '') requirements.set(part, requirement);
  }
  return [...requirements.values()];
}

/**
 * The memory of a selector while it is in use, without its text, in bytes; an estimate on the high side. Known from the
 * text, so that a selector that nobody has memory for is not parsed.
 */
export function fieldSelectorBytes(text: string): number {
  if (text === '') return 0;
  let count = 1;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) count++;
  return Math.min(count, mostRequirements) * requirementBytes;
}

/** Estimated memory of a requirement: the object with its two substrings, its list slot and its map entry. */
const requirementBytes = 224;

function splitUnescaped(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const operators = ['!=', '==', '='];

/** Does the same as {@link parseTerm} for a term without escapes, in a tenth of the time. */
function parsePlainTerm(term: string, whole: string): FieldRequirement {
  const at = term.indexOf('=');
  if (at < 0) return parseTerm(term, whole);
  const isUnequal = at > 0 && term[at - 1] === '!';
  const isDouble = !isUnequal && term[at + 1] === '=';
  const value = term.slice(at + (isDouble ? 2 : 1));
  // An unescaped character in the value is an error.
  if (value.includes('=')) return parseTerm(term, whole);
  return { field: term.slice(0, isUnequal ? at - 1 : at), equals: !isUnequal, value };
}

function parseTerm(term: string, whole: string): FieldRequirement {
  for (let i = 0; i < term.length; i++) {
    if (term[i] === '\\') {
      i++;
      continue;
    }
    const operator = operators.find((o) => term.startsWith(o, i));
    if (operator !== undefined) {
      const value = unescapeValue(term.slice(i + operator.length));
      return { field: term.slice(0, i), equals: operator !== '!=', value };
    }
  }
  throw new SelectorError(`invalid selector: '${whole}'; can't understand '${term}'`);
}

function unescapeValue(value: string): string {
  // A string built character by character takes many times the memory.
  if (!/[\\,=]/.test(value)) return value;
  let out = '';
  for (let i = 0; i < value.length; i++) {
    const c = value[i] as string;
    if (c === '\\') {
      const escaped = value[++i];
      if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped ?? ''}`);
      }
      out += escaped;
    } else if (c === ',' || c === '=') {
      // Programs know the character by its number.
      throw new SelectorError(`invalid field selector: unescaped character in value: ${c.codePointAt(0)}`);
    } else {
      out += c;
    }
  }
  return out;
}
