import { Flag, type FlagType, flagsOf, type OptionsClass, readFlagValue } from './flag.js';

/** Flags that change nothing, and why. */
export interface FlagsWithoutEffect {
  /** The text after `has no effect: `. */
  readonly why: string;
  /** One line for each type of value: `duration: first=5s second`, with the defaults of other programs. */
  readonly flags: string;
}

/** Why each ignored flag has no effect, by the class that declares it and its name. */
const reasons = new WeakMap<OptionsClass, Map<string, string>>();

/**
 * Declares flags of existing command lines that have no meaning for this program, so that they are accepted. The
 * program reports once which of them were given ({@link ignoredFlagsNotes}).
 */
export function declareIgnored(optionsClass: OptionsClass, sets: readonly FlagsWithoutEffect[]): void {
  const known = reasons.get(optionsClass) ?? new Map<string, string>();
  reasons.set(optionsClass, known);
  const prototype = optionsClass.prototype as Record<string, unknown>;
  for (const { why, flags } of sets) {
    let type: FlagType = 'string';
    for (const word of flags.trim().split(/\s+/)) {
      if (word.endsWith(':')) {
        type = word.slice(0, -1) as FlagType;
        continue;
      }
      const equals = word.indexOf('=');
      const name = equals < 0 ? word : word.slice(0, equals);
      const declaration = { name, type, usage: `Accepted without effect: ${why}.` };
      Flag(declaration)(prototype, name);
      known.set(name, why);
      if (equals < 0) continue;
      const reading = readFlagValue(declaration, [word.slice(equals + 1)]);
      if ('value' in reading) prototype[name] = reading.value;
    }
  }
}

/** A line for each reason why given flags change nothing. */
export function ignoredFlagsNotes(given: ReadonlySet<string>, classes: Iterable<OptionsClass>): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const optionsClass of classes) {
    const known = reasons.get(optionsClass);
    if (known === undefined) continue;
    for (const { name } of flagsOf(optionsClass)) {
      const why = known.get(name);
      if (why === undefined || !given.has(name)) continue;
      byReason.set(why, [...(byReason.get(why) ?? []), `--${name}`]);
    }
  }
  return [...byReason].map(
    ([why, names]) => `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no effect: ${why}`,
  );
}
