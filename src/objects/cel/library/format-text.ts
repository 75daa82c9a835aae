import type { Budget } from '../budget.js';
import { CelError } from '../cel-error.js';
import { valueTypeName } from '../values/cel-type.js';
import { Span, Timestamp } from '../values/time.js';
import { isList, isMap, listItems, mapGet, mapKeys, TypeValue, Uint, type Value } from '../values/value.js';
import { doubleToText } from './conversions.js';

const clause = /%(?:%|(?:\.(\d+))?(.?))/gsu;
const maxPrecision = 1000;
const defaultPrecision = 6;

/**
 * Fills the clauses (`%s %d %f %e %b %o %x %X`) of a format with the arguments. Charges for the string that it makes.
 */
export function formatText(format: string, args: readonly Value[], budget: Budget): string {
  budget.chargeText(format.length);
  let next = 0;
  return format.replace(clause, (whole, precision: string | undefined, verb: string | undefined) => {
    if (whole === '%%') return '%';
    if (verb === undefined || verb === '') throw new CelError('unexpected end of string');
    if (next >= args.length) throw new CelError(`index ${next} out of range`);
    const digits = precision === undefined ? undefined : Number(precision);
    if (digits !== undefined && digits > maxPrecision) throw new CelError('precision is too large');
    const text = formatArgument(verb, digits, args[next++] as Value, budget);
    budget.chargeText(text.length);
    return text;
  });
}

function formatArgument(verb: string, digits: number | undefined, value: Value, budget: Budget): string {
  switch (verb) {
    case 's':
      return shown(value, budget);
    case 'd':
      if (typeof value === 'bigint') return String(value);
      if (value instanceof Uint) return String(value.value);
      if (typeof value === 'number') return special(value) ?? wrong(value, 'decimal');
      return wrong(value, 'decimal');
    case 'f':
      return special(value) ?? real(value, 'fixed-point').toFixed(Math.min(digits ?? defaultPrecision, 100));
    case 'e':
      return special(value) ?? scientific(real(value, 'scientific'), digits ?? defaultPrecision);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return whole(value, 'binary').toString(2);
    case 'o':
      return whole(value, 'octal').toString(8);
    case 'x':
    case 'X': {
      const hex = hexadecimal(value, budget);
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
  throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
}

function special(value: Value): string | undefined {
  const number = typeof value === 'string' ? Number.NaN : value;
  if (typeof value === 'string') return ['NaN', 'Infinity', '-Infinity'].includes(value) ? value : undefined;
  if (typeof number !== 'number') return undefined;
  if (Number.isNaN(number)) return 'NaN';
  return Number.isFinite(number) ? undefined : number > 0 ? 'Infinity' : '-Infinity';
}

function real(value: Value, what: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  return wrong(value, what);
}

function whole(value: Value, what: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  return wrong(value, what);
}

function scientific(value: number, digits: number): string {
  return value.toExponential(Math.min(digits, 100)).replace(/e([+-])(\d)$/, 'e$10$2');
}

function hexadecimal(value: Value, budget: Budget): string {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    budget.chargeText(value.length * 2);
    return Buffer.from(value as string).toString('hex');
  }
  return whole(value, 'hexadecimal').toString(16);
}

function wrong(value: Value, what: string): never {
  throw new CelError(`error during formatting: ${what} clause can't be used on ${valueTypeName(value)}`);
}

/** How `%s` shows a value. */
function shown(value: Value, budget: Budget): string {
  budget.charge(1);
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return special(value) ?? doubleToText(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) {
    budget.chargeText(value.length);
    return Buffer.from(value).toString('utf8');
  }
  if (value instanceof Timestamp || value instanceof Span) return value.toString();
  if (value instanceof TypeValue) return value.name;
  if (isList(value)) {
    const parts = listItems(value).map((item) => shown(item, budget));
    budget.chargeText(parts.reduce((sum, part) => sum + part.length, 0));
    return `[${parts.join(', ')}]`;
  }
  if (isMap(value)) {
    const parts = mapKeys(value).map((key) => `${shown(key, budget)}: ${shown(mapGet(value, key) as Value, budget)}`);
    budget.chargeText(parts.reduce((sum, part) => sum + part.length, 0));
    return `{${parts.sort().join(', ')}}`;
  }
  return wrong(value, 'string');
}
