import { flagsOf, showFlagValue } from './flag.js';
import type { OptionGroups } from './parse-options.js';

/** Shown in place of values that must not appear. */
const classified = 'CLASSIFIED';

/**
 * All flags with their values in effect, `name=value`, sorted by name. Secret flags and the passwords in URLs are left
 * out.
 *
 * @param options the values of each group; groups may be missing
 */
export function shownFlags(groups: OptionGroups, options: Readonly<Record<string, object>>): string[] {
  return Object.entries(groups)
    .flatMap(([group, optionsClass]) =>
      flagsOf(optionsClass).map((flag) => {
        const value = (options[group] as Record<string, unknown> | undefined)?.[flag.property];
        const text = flag.secret === true && value !== undefined ? classified : showFlagValue(flag, value);
        return `${flag.name}=${text.replaceAll(/(\/\/[^/@\s:,]*):[^\s,]*@/g, `$1:${classified}@`)}`;
      }),
    )
    .sort();
}
