import type { Deprecation } from './deprecation.js';
import { formatFlagDuration, parseFlagDuration } from './flag-duration.js';

/**
 * How the text of a flag is read. A `duration` becomes milliseconds; a `list` is split at commas and may be given
 * several times; an `array` may be given several times and is not split; a `bool` flag without `=value` means true.
 */
export type FlagType = 'string' | 'int' | 'number' | 'bool' | 'duration' | 'list' | 'array';

/** One option of the command line. Its environment variable is `PLINTH_` and the name in capitals with underscores. */
export interface FlagDeclaration {
  /** The name without leading dashes. */
  readonly name: string;
  readonly type: FlagType;
  /** One or two sentences for `--help`. */
  readonly usage: string;
  /** The unit of the value, shown in `--help` in place of the type: `file`, `seconds`, `host:port`. */
  readonly unit?: string;
  /** A one-letter form, with a single dash. */
  readonly short?: string;
  /** What shells offer for completion: the only accepted texts, or usual ones; for a list, the texts of each entry. */
  readonly values?: readonly string[];
  /** The files that a value names, for a flag whose unit is neither `file` nor `files`. */
  readonly files?: (value: unknown) => readonly string[];
  /** Other names of the flag, without leading dashes. */
  readonly aliases?: readonly string[];
  /** The value must never appear in messages. */
  readonly secret?: boolean;
  /** The end of the whole flag, if one is announced. */
  readonly deprecated?: Deprecation;
  /** Warnings about an accepted value, one line each. */
  readonly warnings?: (value: unknown) => readonly string[];
}

/** A declaration and the property that holds its value. */
export interface BoundFlag extends FlagDeclaration {
  readonly property: string;
  readonly environment: string;
}

/** A class of options; its property initialisers are the defaults. */
export type OptionsClass<T extends object = object> = (new () => T) & {
  /** Calculates values that follow from each other, after all of them were read and checked. */
  settle?(values: Record<string, unknown>): void;
};

const flagsByPrototype = new WeakMap<object, BoundFlag[]>();

/** Turns a property of an options class into a flag. */
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

/** The flags of an options class in the order of declaration, those of the classes it extends first. */
export function flagsOf(optionsClass: OptionsClass): readonly BoundFlag[] {
  const flags: BoundFlag[] = [];
  for (let prototype: object | null = optionsClass.prototype as object; prototype !== null; ) {
    flags.unshift(...(flagsByPrototype.get(prototype) ?? []));
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return flags;
}

/** `database-url` -> `PLINTH_DATABASE_URL`. */
function environmentName(flagName: string): string {
  return `PLINTH_${flagName.toUpperCase().replaceAll('-', '_')}`;
}

/** The result of reading a flag's text: its value, or the problem with the text. */
export type FlagReading = { readonly value: unknown } | { readonly problem: string };

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Reads the text of a flag by its type. Repeated lists are concatenated. */
export function readFlagValue(flag: FlagDeclaration, texts: readonly string[]): FlagReading {
  const text = texts.at(-1) ?? '';
  switch (flag.type) {
    case 'string':
      return { value: text };
    case 'list':
      return { value: Object.freeze(texts.flatMap((part) => (part === '' ? [] : part.split(',')))) };
    case 'array':
      return { value: Object.freeze(texts.filter((part) => part !== '')) };
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

/** The files that the value of a flag names. */
export function filesOf(flag: FlagDeclaration, value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (flag.files !== undefined) return flag.files(value);
  if (flag.unit !== 'file' && flag.unit !== 'files') return [];
  return [value].flat().filter((path) => typeof path === 'string');
}

/** The text that a user would write for this value, for `--help`; empty for an unset option. */
export function showFlagValue(flag: FlagDeclaration, value: unknown): string {
  if (value === undefined) return '';
  if (flag.type === 'duration') return formatFlagDuration(value as number);
  return Array.isArray(value) ? value.join(',') : String(value);
}
