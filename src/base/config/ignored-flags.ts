import { Flag, type FlagType, type OptionsClass } from './flag.js';

/** The names of flags that change nothing, by the type of their value. */
export type IgnoredFlags = Readonly<Partial<Record<FlagType, readonly string[]>>>;

/**
 * Declares flags that existing command lines have and that mean nothing to this program, so that they are accepted. The
 * program tells once which of them were given ({@link ignoredFlagsNote}).
 */
export function declareIgnored(optionsClass: OptionsClass, flags: IgnoredFlags, usage: string): void {
  for (const [type, names] of Object.entries(flags) as [FlagType, readonly string[]][]) {
    for (const name of names) Flag({ name, type, usage })(optionsClass.prototype as object, name);
  }
}

/** The line that tells which of the given flags change nothing, and why; undefined when there are none. */
export function ignoredFlagsNote(given: ReadonlySet<string>, flags: IgnoredFlags, why: string): string | undefined {
  const ignored = Object.values(flags).flat();
  const named = ignored.filter((name) => given.has(name)).map((name) => `--${name}`);
  if (named.length === 0) return undefined;
  return `${named.join(', ')} ${named.length === 1 ? 'has' : 'have'} no effect: ${why}`;
}
