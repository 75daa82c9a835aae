import { formatFlagDuration, parseFlagDuration } from './flag-duration.js';

/**
 * How the text of a flag is read: `duration` becomes milliseconds, `list` is split at commas and may be given several
 * times. A `bool` flag without `=value` means true.
 */
export type FlagType = 'string' | 'int' | 'number' | 'bool' | 'duration' | 'list';

/** One option of the command line; its environment twin is `PLINTH_` and the name in capitals with underscores. */
export interface FlagDeclaration {
  /** Without the dashes in front. */
  readonly name: string;
  readonly type: FlagType;
  /** One or two sentences for `--help`. */
  readonly usage: string;
  /** What the value is, shown in `--help` in place of the type: `file`, `seconds`, `host:port`. */
  readonly unit?: string;
  /** One letter, for a form with a single dash. */
  readonly short?: string;
  /** The value never appears in messages. */
  readonly secret?: boolean;
}

/** A declaration bound to the property that carries its value. */
export interface BoundFlag extends FlagDeclaration {
  readonly property: string;
  readonly environment: string;
}

/** A class of options: property initialisers are the defaults. */
export type OptionsClass<T extends object = object> = new () => T;

const flagsByPrototype = new WeakMap<object, BoundFlag[]>();

/** Makes a property of an options class a flag. */
export function Flag(declaration: FlagDeclaration): PropertyDecorator {
  return (prototype, property) => {
    let flags = flagsByPrototype.get(prototype);
    if (flags === undefined) {
      flags = [];
      flagsByPrototype.set(prototype, flags);
    }
    flags.push({ ...declaration, property: String(property), environment: environmentName(declaration.name) });
  };
}

/** The flags of an options class in the order of their declaration. */
export function flagsOf(optionsClass: OptionsClass): readonly BoundFlag[] {
  return flagsByPrototype.get(optionsClass.prototype as object) ?? [];
}

/** `database-url` -> `PLINTH_DATABASE_URL`. */
function environmentName(flagName: string): string {
  return `PLINTH_${flagName.toUpperCase().replaceAll('-', '_')}`;
}

/** What reading a flag's text gives: its value, or what is wrong with the text. */
export type FlagReading = { readonly value: unknown } | { readonly problem: string };

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Reads the text of a flag by its type. Texts of a list given several times are appended to each other. */
export function readFlagValue(flag: FlagDeclaration, texts: readonly string[]): FlagReading {
  const text = texts.at(-1) ?? '';
  switch (flag.type) {
    case 'string':
      return { value: text };
    case 'list':
      return { value: Object.freeze(texts.flatMap((part) => (part === '' ? [] : part.split(',')))) };
    case 'bool':
      if (trueTexts.has(text)) return { value: true };
      return falseTexts.has(text) ? { value: false } : { problem: 'must be true or false' };
    case 'int': {
      const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
      return Number.isSafeInteger(value) ? { value } : { problem: 'must be a whole number' };
    }
    case 'number': {
      const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(value) ? { value } : { problem: 'must be a number' };
    }
    case 'duration': {
      const value = parseFlagDuration(text);
      return value === undefined ? { problem: 'must be a duration such as 30s, 1m0s or 1h' } : { value };
    }
  }
}

/** The text that would give this value, for `--help`; the empty string for an unset option. */
export function showFlagValue(flag: FlagDeclaration, value: unknown): string {
  if (value === undefined) return '';
  if (flag.type === 'duration') return formatFlagDuration(value as number);
  return Array.isArray(value) ? value.join(',') : String(value);
}
